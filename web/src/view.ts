// The interface of a view. A page consists of views, and each view shows one aspect of a record. main.ts lists all views in
// their order.
import type { Entry } from "./record";

export interface View {
    id: string;
    title: string;
    // Whether the record has data for this view.
    applies(entry: Entry): boolean;
    // Called once, with a section that already has its heading. Charts use whenSeen() of dom.ts, so that they are drawn when
    // they come near the screen.
    render(entry: Entry, into: HTMLElement): void;
}
