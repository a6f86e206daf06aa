/**
 * Every row of docs/not-verified.md: what a deployment must do, and the check for it, or why a person must
 * check it.
 *
 * Does not own: the checks (the files beside it, one function for each id).
 */

import { AREAS, type Area, type Entry, type Phase, type Run } from '../check.ts';
import type { Need } from '../ports.ts';
import { ACCOUNT } from './account.ts';
import { EXECUTIONS } from './executions.ts';
import { FAULTS } from './faults.ts';
import { TRACES } from './traces.ts';
import { TRIGGERS } from './triggers.ts';

/** Why no program checks a row: a word for the page and a sentence for a report. */
export const REASONS: Readonly<Record<string, string>> = {
  absent: 'the stack of verify has no such part',
  twice: 'it needs two deployments',
  long: 'it takes too long',
  other: 'it needs another account or caller',
  person: 'a person reads it',
};

/**
 * A checked row is: id (bold if a failure stops the work), row, phase, needs, expected result. A row without
 * a check is: id, row, reason.
 */
const TABLE = `
# Account and template
identity | The credentials are those of an account. | preflight | account | an account and an ARN
**bootstrap** | The region is bootstrapped. | preflight | account | version 6 or later
concurrency | The account has enough concurrent executions. | preflight | account | at least 10 unreserved
log-policies | The account’s log policies have room. | preflight | account | each below 5120 bytes
**drift** | What is deployed is as the template has it. | preflight | stack | CloudFormation finds no resource that has drifted
**permissions** | Functions may do all that they must. | traces | probes | no such line
**direct-calls** | AWS understands direct calls; else \`transport: 'sdk'\`. | traces | probes | no such line
**credentials** | Functions find their credentials. | traces | probes | no such line
own-key | With your encryption key nothing is refused (\`KMSAccessDenied\`). | absent
prod-stage | \`prod\` sets 6 executions aside; its table is protected. | twice
many-agents | A folder of 60 agents deploys. | absent
partitions | GovCloud and China: an order succeeds. | other
first-failure | A failed first deployment leaves only the empty table. | twice
# Executions
**canary** | The canary’s workflow, started by the API, ends. | executions | canary | succeeded
**order** | An order succeeds past a lost answer, and acts once. | executions | probes | succeeded; a probe finds the effect; one effect
undone | A declined order is undone. | executions | probes | compensated; no effect is left
**chain** | A chain of 40 steps over one agent is not cut. | executions | probes | succeeded; 40 steps done
list | A list of 40 succeeds. | executions | probes | succeeded
large | A large value takes the bucket. | executions | probes | succeeded; an input of 60000 characters is read back
erase | An execution is erased. | executions | probes | erased; unknown-execution afterwards
child | A child’s end reaches its parent. | executions | probes | succeeded
incident | An incident is listed and resolved by a person. | executions | probes | listed while open; ended after the answer
dead-letters | No message is left in a dead-letter queue. | traces | probes | every one empty
nothing-open | Nothing that was begun stays open. | traces | probes | no open execution of a workflow of verify
cold-start | A cold start stays below the shortest lease (\`initDurationMs\`). | person
expiry | A month after its end an execution is gone. | long
isolate-memory | \`isolate\` shows a death by memory’s limit. | absent
shards | The wake index’s shards bear a burst. | long
thaw | After fifteen idle minutes connections still work. | long
load | Of 10,000 starts none is lost. | long
isolate | With \`isolate\` a process that ends is retried in seconds. | absent
# API and access
health | The API answers that all is well. | executions | - | ok
**unsigned** | An unsigned request is refused. | executions | signature | 403 for a route and for none
callback | A callback takes its token alone; a person approves. | executions | probes | 404 unknown-callback; succeeded
callers | \`startedBy\` names users, roles and tokens. | other
grants | \`grantStart\` allows one workflow; a token without scope is 403. | other
rate-limit | Beyond \`rateLimit\`, and at 0, the API answers 429; \`startsPerSecond\` bounds writes. | absent
domain | With a domain AWS’s own address answers 404. | absent
access-log | The access log has routes’ patterns, no token. | person
starved | With \`schedulerConcurrency\` the API answers while agents take all. | absent
cors | \`cors\` answers a preflight of its page alone. | person
# Triggers and events
event-trigger | An event said twice starts one execution. | executions | probes | one execution
refused-start | A refused start is a dead letter; numbers beyond 2^53 keep their digits. | executions | probes | the message with 9007199254740993, and no execution
message-trigger | A message starts an execution. | executions | probes | one execution with its id
schedule-trigger | A schedule starts an execution with its planned time. | executions | probes | an execution whose id is a time
end-once | An end arrives on the bus once. | executions | probes | one event
objects | An object starts one execution. | absent
queue-policy | A queue lets in whom \`grantSend\` named, no other account. | other
function-url | A function’s address lets in only granted roles. | other
rename | A renamed trigger leaves its queues and messages. | twice
redrive | A dead letter can be moved back. | person
# Supervision
**sweeps** | Supervisors sweep. | traces | - | Sweeps above 0
dies | An agent that dies after its effect acts once. | faults | probes | succeeded; one effect
breaker | A breaker opens for a dead service, and closes when it is back. | faults | probes | open, then closed; all succeeded
**nothing-doubled** | After all this nothing was doubled, lost or stuck. | aftermath | probes | 0 doubled, 0 lost, 0 stuck
outage | No burst follows ten minutes without ticks. | person
audit-silent | Without its rule \`AuditSilent\` is raised. | long
audit-pace | The audit removes as fast as executions leave behind. | long
ticks-off | Without ticks \`SupervisorSilent\` is raised, and a dead agent’s step goes on. | person
throttled | An agent throttled for two minutes, or with a disabled mapping, loses nothing. | person
restore | A [restored table](OPERATIONS.md#restore-the-table), deployed at rest first, takes over. | twice
# Observation and cost
**subscribers** | The alarms’ topic has a confirmed subscriber. | preflight | stack | at least one
bulk | A bulk action may do all that it must. | executions | probes | both of its executions canceled
metrics | Metrics arrive under these names. | traces | probes | each with data
logs-command | \`steadfast logs\` and \`console\` find the stack’s lines and charts. | person
traces | A trace crosses a queue (\`tracing\`). | absent
prices | [The prices](COST.md#what-it-costs) are the bill within a third. | long
alarm-news | An alarm reaches the topic’s subscribers. | person
# Agents elsewhere
remote | An agent invokes its \`remoteFunction\` for ten minutes. | absent
network | An agent in a network reaches the services. | absent
containers | A container’s image builds; its task works, protected, and stops. | absent
stalled | A stalled container is killed, and its step goes on. | absent
# Upgrade and removal
teardown | \`cdk destroy\` leaves nothing of a stage that goes. | teardown | deployment | no resource has the stack’s tag
release-before | The release before is deployed, and this one again: nothing with data is replaced or lost. | twice
agent-again | An agent removed and deployed again gets its queue. | twice
pipeline | A stage’s role is assumed by its environment alone. | other
`;

const RUNS: Readonly<Record<string, Run>> = {
  ...ACCOUNT,
  ...EXECUTIONS,
  ...TRIGGERS,
  ...TRACES,
  ...FAULTS,
};

export const ENTRIES: readonly Entry[] = entriesOf(TABLE);

function entriesOf(table: string): readonly Entry[] {
  let area: Area = AREAS[0];
  return table
    .trim()
    .split('\n')
    .flatMap((line): Entry[] => {
      if (line.startsWith('# ')) area = line.slice(2) as Area;
      if (line.startsWith('# ')) return [];
      const [name = '', row = '', how = '', needs = '', expected = ''] = line.split(' | ');
      const id = name.replaceAll('*', '');
      const own = { id, area, row, ...(name === id ? {} : { stops: true as const }) };
      const run = RUNS[id];
      if (run === undefined) return [{ ...own, byHand: REASONS[how] ?? how }];
      const needed = (needs === '-' ? [] : needs.split(' ')) as Need[];
      return [{ ...own, phase: how as Phase, needs: needed, expected, run }];
    });
}
