// A record as a fixture: trim-record.mjs RECORD.json >records/NAME.json
//
// Thins the samples out to 24 of each subject, rounds numbers to six digits and takes the machine's name away. Its
// figures are then no longer those of its samples, which no page claims.
import { readFileSync } from "node:fs";

const MOST = 24;
const record = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const it of record.subjects ?? []) {
    for (const key of ["samples_seconds", "rounds"])
        if (Array.isArray(it[key])) it[key] = it[key].slice(0, MOST);
    for (const measure of it.measures ?? []) measure.samples = measure.samples.slice(0, MOST);
    it.look_pairs = undefined;
    it.look_spent = undefined;
}
if (record.machine?.hostname !== undefined) record.machine.hostname = "machine";
const rounded = (_, value) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
const text = JSON.stringify(record, rounded);
console.log(text.replaceAll(/("subjects"|"operations"|"events"|"series"|"figures"|"models"|"comparisons"):\[/g, "\n$1:[").replaceAll('},{"name"', '},\n{"name"'));
