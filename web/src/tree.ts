// Makes the call tree from the operations of a record.
import type { Operation } from "./record";

export interface Node {
    index: number;
    it: Operation;
    depth: number;
    parent: Node | null;
    children: Node[];
    path: string;
}

// All nodes of the tree, each before its children, and children by their total time, longest first. In a damaged record a
// parent may come after its child; then the child counts as having no parent.
export function treeOf(operations: Operation[]): Node[] {
    const nodes: Node[] = [];
    const tops: Node[] = [];
    operations.forEach((it, index) => {
        const parent = it.parent !== null && it.parent < index ? (nodes[it.parent] ?? null) : null;
        const node: Node = {
            index,
            it,
            depth: parent === null ? 0 : parent.depth + 1,
            parent,
            children: [],
            path: parent === null ? it.name : `${parent.path}/${it.name}`,
        };
        nodes.push(node);
        (parent === null ? tops : parent.children).push(node);
    });
    const ordered: Node[] = [];
    const costly = (a: Node, b: Node): number => b.it.total_seconds - a.it.total_seconds;
    const stack = tops.sort((a, b) => -costly(a, b));
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
        ordered.push(node);
        node.children.sort(costly);
        for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i] as Node);
    }
    return ordered;
}
