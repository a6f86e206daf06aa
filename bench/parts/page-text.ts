/**
 * What people have written on the page of the benchmarks: what follows from the figures, and what is not
 * measured.
 *
 * Owns: these texts; check them against new figures. Does not own: a figure that a benchmark takes.
 */

export const FINDINGS = `## What follows from it

- **Small payloads are cheap, large ones are not.** A step costs two write units while its item stays below 1 KB, and one more for
  each started KB of output. With 16 KB a step every shape costs more than Lambda durable functions, and mixed20 at rest as much
  as Step Functions. Keep large things elsewhere and hand on where they are.
- **Length hardly costs**, neither of a chain nor of a list.
- **Batches pay.** \`agentSettings: { batchSize: 10 }\` cuts the cost of SQS and invocations to a fifth under load. It is not the
  default: a process that dies takes ten attempts with it, and code that computes without a pause keeps ten leases from renewal.
- **Waiting in a queue costs.** A step that waits longer than its pickup time costs three write units about every 30 s. A long step
  costs its heartbeats, and almost as much again of a supervisor's writes.
- **Below some 10 M steps a month the steps are less than half of the bill**: the rest is metrics, supervisors, alarms, the audit.

What made it fast is in the [decisions](decisions) 17, 20, 21 and 32.`;

export const NOT_MEASURED = `## What is not measured

- Nothing ran on AWS. Units are counted on the wire of the local cloud, whose DynamoDB reports consumed capacity by AWS's rules.
  Lambda's durations are a model: an assumed latency of each call, and processor time measured here and stretched to the share of a
  processor that 384 MB have. Cold starts, throttling, retries and faults of AWS are in no figure.
- One receive and one delete for each batch are added for the poller between queue and function.
- The sums of steps leave out the API, the logs, the agents' own work and [the rest of the bill](#the-whole-bill), which leaves out data
  transfer, KMS and the agents' own work; the rivals' leave out their functions' invocations and time.
- Faults while thousands of executions are overdue.`;
