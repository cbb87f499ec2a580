// What a page is made of. A view shows one side of a record; main.ts lists all views in their order.
import type { Entry } from "./record";

export interface View {
    id: string;
    title: string;
    // Has the record something of this kind?
    applies(entry: Entry): boolean;
    // Called once, with a section that has its heading. Charts wait for whenSeen() of dom.ts.
    render(entry: Entry, into: HTMLElement): void;
}
