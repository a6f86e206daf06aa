/**
 * What applications import: `steadfast/client`. It loads no other package, in Node and in browsers.
 *
 *     import type { orderFulfilment } from './workflows/order-fulfilment/workflow.ts';
 *     const client = createClient<{ 'order-fulfilment': typeof orderFulfilment }>({ url });
 *     const { executionId } = await client.start('order-fulfilment', { input });
 *     const { status, output } = await client.waitForEnd(executionId);
 *
 * Owns: the package's entry for them. Does not own: anything behind it (`api/typed-client.ts`). Nothing
 * inside `lib` imports this file.
 */

export { createClient } from './api/typed-client.ts';
export type {
  Answering,
  Bulks,
  Callbacks,
  Client,
  ClientOptions,
  DeployedAgents,
  DeployedWorkflows,
  Execution,
  ExecutionId,
  KnownWorkflows,
  Questions,
} from './api/typed-client.ts';
export type { MessageAccepted } from './api/message-answers.ts';
export type { BulkAction, BulkOptions, BulkProgress, BulkView } from './api/bulk-answers.ts';
export { awsSignature, bearer } from './api/authorization.ts';
export type { Authorization, AwsCredentials, AwsSignatureOptions } from './api/authorization.ts';
export { ApiError } from './api/client.ts';
export type { InvokesFunctions, SchedulerFunction } from './api/call-options.ts';
// Types of the client's calls and answers: a project that emits declarations must be able to name them.
export type {
  Addressee,
  CancelOptions,
  CommandOptions,
  ListOptions,
  PauseAgentOptions,
  PauseOptions,
  PauseWorkflowOptions,
  RetryOptions,
  RunOptions,
  SendOptions,
  StartOptions,
  WaitForEndOptions,
  FailOptions,
  ResolveOptions,
} from './api/call-options.ts';
export type {
  Asked,
  AskedBelow,
  Caller,
  CallbackOutcome,
  CallbackQuestionView,
  Erased,
  ExecutionStatus,
  ExecutionSummary,
  ExecutionView,
  Explanation,
  Finding,
  IncidentPage,
  IncidentView,
  Json,
  ListPage,
  Reasons,
  Standing,
  Started,
  StepView,
  Stopped,
} from './api/answers.ts';
export type {
  AgentPauseView,
  AgentTriedNow,
  Agents,
  AgentView,
  BreakerView,
  MissingAgent,
  NeededAgents,
} from './api/agent-answers.ts';
export type {
  AuditHealth,
  Health,
  Lately,
  MetricsPlace,
  Overview,
  ShardHealth,
  WorkflowCounts,
  WorkflowForms,
  WorkflowPauseView,
  WorkflowView,
} from './api/deployment-answers.ts';
