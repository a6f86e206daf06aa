/**
 * The handwritten texts on the page of the benchmarks: `serve` beside other engines, what follows from the
 * figures, and what is not measured.
 *
 * Owns: these texts; check them against new figures. Does not own: any figure that a benchmark stores.
 */

import type { Bill } from './bill.ts';

export const SERVE = `With serve, DBOS, Restate and openworkflow alone, in five rounds of the same day, serve does 3.1 times DBOS's steps for 0.30 of its
processor time with agents apart, and 3.9 times for 0.24 in process.

Of the time of \`serve\` in process SQLite takes 34 %, items and rows 18, garbage 17, engine, roles and decisions 15, the API 5. Half of what
HTTP adds is the client's \`fetch\`.`;

/** Facts that no single run shows. */
export const SINCE = `The limits were set on a faster machine: on this one the tree of 2026-11-22 (86d57394), in turns with this one, does 343 steps a second,
where it did 480. This tree does 0.69 of that, for 1.65 of the functions' processor time: half of what came is Node's own HTTP
connections, which took the place of ours, the rest is the engine's and its records'. Calls and units are the same.`;

/**
 * @param untouched the part of the price of a million steps, in dollars, that sharing a host does not change
 */
export const oneHostUnderLoad = (
  untouched: string,
): string => `Under load a host is no cheaper than at rest, because it takes one message an invocation: a message of a batch is acknowledged only
when all of the batch are, so none of them is carried on, and \`batchSize: 10\` would make of a host what agents with functions of their own are.
Writes, reads and the event of the end are ${untouched} in any case, in chains of five.`;

/** Names the parts of the bill of a month of ten million steps. */
export function whatTheBillIsMadeOf({ lines, total }: Bill): string {
  const usd = (...names: readonly (keyof Bill['lines'])[]): string =>
    names.reduce((sum, name) => sum + (lines[name] ?? 0), 0).toFixed(0);
  const percent = ((100 * (lines['steps'] ?? 0)) / total).toFixed(0);
  return `With a function an agent, ${percent} % of the sum of ten million steps is the steps. The rest is a supervisor that is at work all the time, so
that a dead agent is noticed within six seconds (${usd('supervisors')}), metrics, alarms and dashboard (${usd('metrics', 'alarms', 'dashboard')}), the audit's removals (${usd('audit, removals')}), storage and logs. A host saves messages,
invocations and their time.`;
}

export const FINDINGS = `## What follows from it

- **Small payloads are cheap.** A step costs two write units while its item stays below 1 KB, and one more for each started KB.
- **Batches pay.** \`agentSettings: { batchSize: 10 }\` cuts the cost of SQS and invocations to a fifth under load. It is not the
  default: a process that dies takes ten attempts with it.
- **Waiting in a queue costs**, beyond \`claimWithin\` three write units about every 30 s. A long step costs its heartbeats, and almost
  as much again of a supervisor's writes.`;

export const NOT_MEASURED = `## What is not measured

- Nothing ran on AWS. Units are counted on the wire of the local cloud, whose DynamoDB reports consumed capacity by AWS's rules.
  Lambda's durations are a model: assumed latencies, and processor time stretched to the share that 384 MB have. Cold starts,
  throttling, retries and faults of AWS are in no figure.
- One receive and one delete for each batch are added for the poller between queue and function.
- Data transfer, KMS, the agents' own work; of rivals also their functions' invocations and time.
- Faults while thousands of executions are overdue.`;
