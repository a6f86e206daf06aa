/**
 * Grants each function's role its permissions on the table, the bucket, the buses and the queues.
 *
 * Owns: which role needs which grant. Does not own: the actions of each grant (the parts themselves), grants
 * to others (`grants.ts`).
 */

import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { AgentFleet } from './agent-fleet.ts';
import type { AuditClock } from './audit-clock.ts';
import { addCallerSetting } from './bulk-agent.ts';
import type { AgentFunction } from './deployed-agent.ts';
import { hasLanes } from './discovery.ts';
import { allowServices, grantUse } from './encryption.ts';
import type { SchedulerApi } from './scheduler-api.ts';
import type { StateTable } from './state-table.ts';
import type { SteadfastProps } from './steadfast-props.ts';
import type { SupervisorClock } from './supervisor-clock.ts';
import type { ValueBucket } from './value-bucket.ts';
import type { WakeUps } from './wake-ups.ts';

/** The resources for which a role gets permissions. */
interface Granting {
  readonly stateTable: StateTable;
  readonly valueBucket?: ValueBucket;
  readonly eventBus: IEventBus;
}

interface Whole extends Construct, Granting {
  readonly wakeUps: WakeUps;
  readonly scheduler: SchedulerApi;
  readonly supervisor: SupervisorClock;
  readonly audit: AuditClock;
  readonly agents: ReadonlyMap<string, AgentFunction>;
}

/**
 * Grants each role its permissions. All three roles decide, send and announce ends. Only two find executions,
 * each with an index of its own.
 */
export function grantRoles(whole: Whole, props: SteadfastProps, fleet: AgentFleet): void {
  const { stateTable, valueBucket, wakeUps, audit } = whole;
  const { encryptionKey: key } = props;
  const scheduler = whole.scheduler.function;
  const supervisor = whole.supervisor.function;
  const all = [...whole.agents.values(), ...fleet.builtIn.values()];
  const agents = [...new Set(all.flatMap((agent) => agent.function ?? agent.container ?? []))];
  for (const role of [scheduler, supervisor, ...agents]) grantDecide(whole, props, role);
  for (const role of [scheduler, ...agents]) wakeUps.grantCall(role);
  wakeUps.startOn(supervisor);
  // Built-in agents give commands to executions of any workflow, whose next steps may belong to any agent.
  for (const { function: sender } of fleet.builtIn.values()) {
    if (sender === undefined) continue;
    fleet.allowAll(sender, ['sqs:SendMessage']);
    addCallerSetting(sender, props);
  }
  if (key !== undefined) allowServices(key, whole);
  for (const role of [scheduler, supervisor]) {
    fleet.allowAll(role);
    stateTable.grantFindDue(role);
  }
  stateTable.grantList(scheduler);
  stateTable.grantErase(scheduler);
  valueBucket?.grantErase(scheduler);
  valueBucket?.grantList(supervisor);
  stateTable.grantReceipts(supervisor);
  stateTable.grantCountIncidents(supervisor);
  stateTable.grantAudit(audit.function);
  valueBucket?.grantAudit(audit.function);
  if (key !== undefined) grantUse(key, audit.function);
}

/** Grants what each role that reports or starts anything needs. */
export function grantDecide(
  { stateTable, valueBucket, eventBus }: Granting,
  { workflows, encryptionKey }: SteadfastProps,
  role: IGrantable,
): void {
  stateTable.grantDecide(role);
  if (hasLanes(workflows)) stateTable.grantLanes(role);
  valueBucket?.grantUse(role);
  eventBus.grantPutEventsTo(role);
  if (encryptionKey !== undefined) grantUse(encryptionKey, role);
}
