/**
 * What CDK apps import: `steadfast/cdk`.
 *
 * Nothing inside `lib` imports this file.
 */

export { Steadfast } from './infra/steadfast.ts';
export { SteadfastStack } from './infra/steadfast-stack.ts';
export type { StageSettings, SteadfastStackProps } from './infra/steadfast-stack.ts';
export type { SteadfastProps, Tuning } from './infra/steadfast-props.ts';
export { Workflows } from './infra/workflows.ts';
export type { FolderOptions } from './infra/workflows.ts';
export { DiscoveryError } from './infra/discovery.ts';
export type { TriggerSources } from './infra/declared-triggers.ts';
export type { Discovery, FoundAgent, FoundTrigger, FoundWarning, FoundWorkflow } from './infra/discovery.ts';
export type { AgentFunction } from './infra/deployed-agent.ts';
export type { WorkflowReference } from './infra/event-mapping.ts';
export type { AuditClock } from './infra/audit-clock.ts';
export type { Monitoring } from './infra/monitoring.ts';
export type { SchedulerApi } from './infra/scheduler-api.ts';
export type { StartQueue } from './infra/start-queue.ts';
export type { StateTable } from './infra/state-table.ts';
export type { SupervisorClock } from './infra/supervisor-clock.ts';
export type { ValueBucket } from './infra/value-bucket.ts';
export type { WakeUps } from './infra/wake-ups.ts';
export type {
  BucketReference,
  EventTriggerProps,
  ObjectTriggerProps,
  QueueTriggerProps,
  TriggerProps,
  Triggers,
} from './infra/triggers.ts';
