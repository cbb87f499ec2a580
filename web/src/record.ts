// The types of the run record as the command writes it (docs/record.md, docs/record.schema.json), and of the other data
// that the page gets (cli/page_report.c). Only keys that the page reads are listed. Every list may be absent, as in a
// record of version 1.

export type Reading = number | null | undefined;
export type Facts = { [key: string]: string | number | boolean | null | Unavailable };
export type Unavailable = { [key: string]: string };

export interface Operation {
    name: string;
    parent: number | null;
    count: number;
    total_seconds: number;
    self_seconds: number;
    min_seconds?: Reading;
    max_seconds?: Reading;
    mean_seconds?: Reading;
    std_seconds?: Reading;
    p50_seconds?: Reading;
    p95_seconds?: Reading;
    p99_seconds?: Reading;
    p999_seconds?: Reading;
    buckets?: [number, number][];
    samples_seconds?: number[];
    rss_delta_bytes?: Reading;
    rss_peak_bytes?: Reading;
    heap_peak_bytes?: Reading;
    heap_allocations?: Reading;
    gpu_peak_bytes?: Reading;
    gpu_seconds?: Reading;
    gpu_seconds_low?: Reading;
    gpu_seconds_high?: Reading;
    gpu_spans?: number;
    failed_spans?: number;
    energy_joules?: Reading;
    energy_joules_low?: Reading;
    energy_joules_high?: Reading;
    unavailable?: Unavailable;
}

export interface Metric {
    operation: string;
    depth: number;
    start_seconds: number;
    duration_seconds: number;
    cpu_delta_bytes?: Reading;
    gpu_delta_bytes?: Reading;
    gpu_peak_bytes?: Reading;
    unavailable?: Unavailable;
}

export interface Counter {
    name: string;
    count: number;
    last: Reading;
    min: Reading;
    max: Reading;
    mean: Reading;
}

export interface Lane {
    name: string;
    kind: string;
    process_id: number;
    thread_id: number;
    spans: number;
    ended?: boolean;
    host?: string;
    device?: string;
    rank?: number;
    rank_count?: number;
}

export interface OpenSpan {
    operation: string;
    lane: number;
    depth: number;
    start_seconds: number;
}

export interface Process {
    process_id: number;
    name: string | null;
    parent_id?: number;
    start_seconds?: Reading;
    end_seconds?: Reading;
    user_seconds?: Reading;
    sys_seconds?: Reading;
    peak_rss_bytes?: Reading;
    heap_peak_bytes?: Reading;
    heap_allocations?: Reading;
    spans?: Reading;
    unseen?: string | null;
    running?: boolean;
    unavailable?: Unavailable;
}

export interface Command {
    command?: string[];
    exit_status?: number | null;
    signal?: number | null;
    finished?: boolean;
    unavailable?: Unavailable;
    [key: string]: unknown;
}

export interface Device {
    id: string;
    name: string | null;
    driver: string | null;
    memory_bytes?: Reading;
    peak_bytes?: Reading;
    busy_seconds?: Reading;
    energy_joules?: Reading;
    unavailable?: Unavailable;
}

export interface Measure {
    metric: string;
    samples: Reading[];
}

export interface Subject {
    name: string;
    source?: string | null;
    origin?: string | null;
    iterations?: Reading;
    warmup_samples?: Reading;
    rejected_samples?: Reading;
    disturbed_samples?: Reading;
    failed_runs?: Reading;
    stopped?: string | null;
    mean_seconds?: Reading;
    low_seconds?: Reading;
    high_seconds?: Reading;
    median_seconds?: Reading;
    std_seconds?: Reading;
    min_seconds?: Reading;
    max_seconds?: Reading;
    user_seconds?: Reading;
    sys_seconds?: Reading;
    peak_rss_bytes?: Reading;
    model?: string | null;
    covers?: string;
    doubt?: string;
    slow_samples?: number;
    slow_ratio?: Reading;
    command?: string[];
    parameters?: Facts;
    samples_seconds?: Reading[];
    measures?: Measure[];
    rounds?: number[];
    unavailable?: Unavailable;
}

export type Verdict = "faster" | "slower" | "same" | "inconclusive";

export interface Comparison {
    baseline: string;
    candidate: string;
    baseline_origin?: string | null;
    candidate_origin?: string | null;
    metric?: string | null;
    ratio: Reading;
    low: Reading;
    high: Reading;
    verdict: Verdict;
    reason?: string | null;
    paired?: boolean;
    pairs?: number;
    baseline_samples?: number;
    candidate_samples?: number;
    margin?: Reading;
    decision_level?: Reading;
    decision_low?: Reading;
    decision_high?: Reading;
    beside?: boolean;
    unavailable?: Unavailable;
}

export interface Difference {
    what: string;
    baseline_origin?: string | null;
    candidate_origin?: string | null;
    baseline: string | null;
    candidate: string | null;
}

export interface Flops {
    component: string;
    convention: string;
    forward: Reading;
    backward: Reading;
}

export interface Model {
    name: string;
    class_name?: string | null;
    parameters?: Reading;
    parameter_bytes?: Reading;
    gradient_bytes?: Reading;
    optimizer_bytes?: Reading;
    activation_bytes?: Reading;
    workspace_bytes?: Reading;
    settings?: Facts;
    flops?: Flops[];
    unavailable?: Unavailable;
}

export interface Figure {
    name: string;
    of: string | null;
    value: Reading;
    unit: string | null;
    covers?: string;
    unavailable?: Unavailable;
}

export interface Series {
    name: string;
    of: string | null;
    unit: string | null;
    along: string | null;
    places?: number[];
    values: Reading[];
}

export interface Scaling {
    name: string;
    of?: string | null;
    parameter?: string | null;
    growth_class?: string | null;
    exponent?: Reading;
    low?: Reading;
    high?: Reading;
    conclusive?: boolean;
    unavailable?: Unavailable;
}

export interface Code {
    name: string;
    file: string;
    line: number;
    source?: string | null;
    self_seconds: number;
    total_seconds: number;
    waiting_seconds: number;
    native_seconds?: Reading;
    samples: number;
}

export interface Allocation {
    name: string;
    file: string;
    line: number;
    source?: string | null;
    bytes: number;
    blocks: number;
    peak_bytes: number;
    live_bytes: number;
    samples: number;
}

export interface Python {
    processes: number;
    rate_hz: number;
    samples: number;
    busy_seconds: number;
    native_seconds?: Reading;
    waiting_seconds: number;
    other_seconds: number;
    sampler_seconds: number;
    allocated_bytes?: Reading;
    peak_bytes?: Reading;
    functions?: Code[];
    lines?: Code[];
    allocations?: Allocation[];
}

export interface RunRecord {
    schema: string;
    version: number;
    kind: string;
    name?: string | null;
    study?: string | null;
    created?: string | null;
    assay_version?: string | null;
    total_seconds?: Reading;
    wall_seconds?: Reading;
    user_seconds?: Reading;
    sys_seconds?: Reading;
    peak_rss_bytes?: Reading;
    tree_peak_rss_bytes?: Reading;
    tree_peak_pss_bytes?: Reading;
    heap_peak_bytes?: Reading;
    heap_allocations?: Reading;
    energy_joules?: Reading;
    energy_joules_low?: Reading;
    energy_joules_high?: Reading;
    machine?: Facts;
    build?: Facts;
    git?: Facts;
    clock?: Facts;
    settings?: Facts;
    process?: Command;
    processes?: Process[];
    python?: Python;
    devices?: Device[];
    operations?: Operation[];
    metrics?: Metric[];
    counters?: Counter[];
    lanes?: Lane[];
    open_spans?: OpenSpan[];
    subjects?: Subject[];
    comparisons?: Comparison[];
    differences?: Difference[];
    models?: Model[];
    figures?: Figure[];
    series?: Series[];
    scalings?: Scaling[];
    integrity?: { [key: string]: number };
    unavailable?: Unavailable;
}

// The types of the JSON that assay_growth_print_json() prints.
export interface GrowthSize {
    n: number;
    values: number;
    median_seconds: number;
    fitted_seconds: Reading;
}

export interface GrowthClass {
    class: string;
    p_value?: Reading;
    rejected?: boolean;
    probability?: Reading;
    overhead_seconds?: Reading;
    coefficient?: Reading;
    exponent?: Reading;
    relative_error?: Reading;
}

export interface Growth {
    name?: string;
    class: string | null;
    conclusive: boolean;
    reason?: string | null;
    exponent: Reading;
    low: Reading;
    high: Reading;
    overhead_seconds?: Reading;
    coefficient?: Reading;
    r2?: Reading;
    noise?: Reading;
    sizes?: GrowthSize[];
    classes?: GrowthClass[];
}

export interface Sweep {
    about: { parameter: string | null };
    series: Growth[];
}

// One record of the page, with the growths that libassay has fitted. `index` is part of the names of its other blocks, such
// as "trace-0".
export interface Entry {
    index: number;
    about: { origin: string };
    record: RunRecord;
    growths: Sweep[];
}

export interface PageData {
    records: Omit<Entry, "index">[];
    comparison: RunRecord | null;
}
