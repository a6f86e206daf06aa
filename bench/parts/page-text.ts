/**
 * What people have written on the page of the benchmarks: what follows from the figures, what was slow, what is not measured.
 *
 * Owns: these texts; whoever takes figures anew checks them. Does not own: a figure that a benchmark takes.
 */

export const BELOW_ONE = `What the table above counts and this one does not is the kernel's share, and the scheduler that starts each execution. To come below 1.0 s
per 1,000 steps something would have to go:

- The calls are near their floor, 0.1 ms each for four a step (the SDK alone takes 0.3 to 0.45). A claim that trusted its message
  instead of reading first would save one of them and what it takes to decode the answer, some 0.2 ms; what it reads is what keeps a step of
  a canceled execution from being performed.
- Records are items with an attribute for each field, which conditions and people can read. As one opaque attribute they
  would take perhaps half as long to code, 0.1 ms.
- A start that went from the API into a queue without a function would save the scheduler's share, 0.2 to 0.3 ms for five steps
  each, and with it the answer: what was wrong with the input, or which execution has that key.`;

export const FINDINGS = `## What follows from it

- **Small payloads are cheap, large ones are not.** A step's writes are two units as long as its item stays below 1 KB; each started
  KB of an output is one more. A large input is written once, beside the execution's record. A list whose items bring 1 KB each
  costs at rest as much as with Lambda durable functions; at 16 KB they cost less than ours in every shape, and Step Functions Standard
  costs as much as ours in one (mixed20 at rest). Keep large things elsewhere and hand on where they are.
- **Length hardly costs.** A step of a long chain is claimed on its own record and its predecessors', not on all of them, and a list is
  cut into executions of up to 25 items. What does grow with a chain is what a claim reads besides, the execution's record (1 unit to
  3), and what shrinks is each step's share of start and end.
- **Batches pay.** The default of one message an invocation costs $1.20 of SQS and $0.24 of invocations for a million steps;
  \`agentSettings: { batchSize: 10 }\` a fifth of that under load; at rest messages come one by one. It is not the default because a
  process that dies then takes ten attempts with it, and code that computes without a pause keeps ten leases from being renewed.
- **A backlog costs looks.** A step that waits in its queue for longer than its pickup time is looked at about every 30 s, with three write
  units each time: a minute in a queue costs more than the step. So does a long step: supervisors write almost as much about it as
  its beats do.
- **Logs are not free.** At rest a line of figures and Lambda's own two lines for every invocation cost more than its GB-seconds.

## What was slow, and was made fast

Found by sampling (\`npm run bench:profile\`) and by counting calls, in the order of what it brought. Figures are those of the time, on a
busier machine than now; the commits that have them say so.

| what | before | after |
| --- | ---: | ---: |
| the SDK's machinery for the calls of a healthy step: now plain signed requests ([decision 15](decisions/0015-plain-calls.md)) | 6.0 CPU ms a step, agents | 2.9 |
| Node's HTTP client beneath them: now connections of our own ([decision 18](decisions/0018-http-of-our-own.md)) | 2.55 CPU s per 1,000 steps, functions | 2.03 |
| records copied and deleted from on their way to items; the last SDK call of an execution | 1.80 CPU s per 1,000 steps, agents | 1.58 |
| a claim read the whole execution: now the records that it stands on ([decision 17](decisions/0017-large-inputs-apart-long-executions-in-part.md)) | 39 read units a step, chain of 900 | 3 |
| sends left one by one: those of a batch now wait for each other, up to 20 ms | 10 SQS requests for ten | 1 or 2 |
| ends of a long list were written and read again with each of them ([decision 20](decisions/0020-ends-of-a-long-list.md)) | 3.49 $ per million items, list of 10,000 | 2.49 |
| each report of a batch was followed by a look of its own, which lost races ([decision 22](decisions/0022-looks-in-turn.md)) | 10.86 $ per million items, list of 100 with 1 KB each, under load | 6.95 |
| what waited in a long queue passed for lost ([decision 21](decisions/0021-a-full-queue.md)) | 100,000 due at once: no end after 650 s | 413 s |`;

export const NOT_MEASURED = `## What is not measured

- Nothing ran on AWS. Units are counted on the wire of the local cloud, whose DynamoDB reports consumed capacity by AWS's rules;
  durations of Lambda are a model (assumed latency of each call, plus processor time measured here and stretched to the share
  of a processor that 384 MB have). Cold starts, throttling, retries and faults of AWS are not in any figure, nor is the wait of
  up to 20 ms in which a batch's sends are gathered.
- The poller between queue and function is not on the wire: one receive and one delete for each batch are added, and its empty
  receives are counted by the month.
- The hop through a queue is modelled by its median alone, and times of DynamoDB's calls are assumed; which calls follow one another
  is written down, not observed. Calls of one invocation's messages are taken to run side by side, also where one waits for another.
- What a refused write consumes is reckoned from its request.
- A list of 100 items with 16 KB each, which no request may hold; a chain of more than 924 steps, which no plan may.
- Faults while thousands of executions are overdue.
- Prices of other engines are arithmetic on list prices.
- Data transfer, KMS, backups, alarms, the dashboard and storage of what has ended are in [OPERATIONS.md](OPERATIONS.md#what-it-costs).`;
