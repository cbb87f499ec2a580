// The view of generated and real routes on the road network. The study `routes` records the network and some routes as
// series. road_x1, road_y1, road_x2 and road_y2 along "road" are the ends of each road. real_route and generated_route
// along "step" are the numbers of the roads of a route.
import { element, freshId, svg, visible } from "./dom";
import type { Series } from "./record";

const ENDS = ["road_x1", "road_y1", "road_x2", "road_y2"] as const;
const ROUTES = new Set(["real_route", "generated_route"]);
const WIDTH = 640;

export function isMapSeries(it: Series): boolean {
    return ROUTES.has(it.name) || (ENDS as readonly string[]).includes(it.name);
}

interface Network {
    x1: number[];
    y1: number[];
    x2: number[];
    y2: number[];
}

function numbers(series: Series[], name: string): number[] {
    const values = series.find((it) => it.name === name)?.values ?? [];
    return values.map((it) => it ?? Number.NaN);
}

function networkOf(series: Series[]): Network | null {
    const [x1, y1, x2, y2] = ENDS.map((name) => numbers(series, name));
    if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return null;
    return x1.length > 0 && [y1, x2, y2].every((it) => it.length === x1.length)
        ? { x1, y1, x2, y2 }
        : null;
}

class Projection {
    private readonly west: number;
    private readonly north: number;
    private readonly scale: number;
    private readonly squeeze: number;
    readonly height: number;

    // A degree of longitude is shorter than a degree of latitude, by the cosine of the latitude.
    constructor(network: Network) {
        const xs = [...network.x1, ...network.x2].filter(Number.isFinite);
        const ys = [...network.y1, ...network.y2].filter(Number.isFinite);
        const extent = (all: number[], pick: (a: number, b: number) => number): number =>
            all.reduce((a, b) => pick(a, b), all[0] ?? 0);
        this.west = extent(xs, Math.min);
        this.north = extent(ys, Math.max);
        const south = extent(ys, Math.min);
        this.squeeze = Math.cos((((this.north + south) / 2) * Math.PI) / 180) || 1;
        const width = Math.max((extent(xs, Math.max) - this.west) * this.squeeze, 1e-9);
        this.scale = (WIDTH - 24) / width;
        this.height = Math.min(900, Math.max(60, (this.north - south) * this.scale) + 24);
    }

    point(x: number, y: number): string {
        const left = (x - this.west) * this.squeeze * this.scale + 12;
        return `${left.toFixed(1)} ${((this.north - y) * this.scale + 12).toFixed(1)}`;
    }
}

function segments(network: Network, on: Projection, roads: Iterable<number>): string {
    let d = "";
    for (const i of roads) {
        const [x1, y1, x2, y2] = [network.x1[i], network.y1[i], network.x2[i], network.y2[i]];
        if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) continue;
        if (!Number.isFinite(x1 + y1 + x2 + y2)) continue;
        d += `M${on.point(x1, y1)}L${on.point(x2, y2)}`;
    }
    return d;
}

function roadsOf(it: Series | undefined): number[] {
    return (it?.values ?? []).filter((road): road is number => typeof road === "number");
}

// The trip and the model of a series: "trip 3, distilled" is the route of the model `distilled` for trip 3, and "trip 3" is
// the real route.
function tripOf(it: Series): { trip: string; model: string } {
    const [trip, model] = (it.of ?? "").split(", ");
    return { trip: trip ?? "", model: model ?? "" };
}

export function routeMap(series: Series[]): HTMLElement | null {
    const network = networkOf(series);
    const routes = series.filter((it) => ROUTES.has(it.name));
    if (network === null || routes.length === 0) return null;
    const on = new Projection(network);
    const trips = [...new Set(routes.map((it) => tripOf(it).trip))];
    const picture = svg("svg", {
        class: "map",
        viewBox: `0 0 ${WIDTH} ${on.height.toFixed(0)}`,
        role: "img",
        "aria-label": `Road network of ${network.x1.length} roads with the real and the generated routes of a trip.`,
    });
    const roads = svg("path", {
        class: "roads",
        d: segments(network, on, network.x1.keys()),
    });
    const legend = element("ul", { class: "legend" });
    const show = (trip: string): void => {
        picture.replaceChildren(roads);
        legend.replaceChildren();
        const mine = routes.filter((it) => tripOf(it).trip === trip);
        mine.sort((a, b) => Number(b.name === "real_route") - Number(a.name === "real_route"));
        mine.forEach((it, index) => {
            const real = it.name === "real_route";
            const kind = real ? "soft" : `s${index}`;
            picture.append(
                svg("path", {
                    class: `route ${real ? "real" : kind}`,
                    d: segments(network, on, roadsOf(it)),
                }),
            );
            legend.append(
                element(
                    "li",
                    {},
                    element("i", { class: `swatch ${kind}` }),
                    `${real ? "real" : visible(tripOf(it).model, 40)}: ${roadsOf(it).length} roads`,
                ),
            );
        });
    };
    const id = freshId("trip");
    const choose = element("select", { id });
    for (const trip of trips) choose.append(element("option", { value: trip }, visible(trip, 60)));
    choose.addEventListener("change", () => show(choose.value));
    show(trips[0] ?? "");
    return element(
        "div",
        {},
        element("h3", {}, "Generated and real routes"),
        element("p", { class: "bar" }, element("label", { for: id }, "Trip"), choose),
        legend,
        picture,
    );
}
