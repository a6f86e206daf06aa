/**
 * What applications import: `steadfast/client`. It loads no other package, in Node and in browsers.
 *
 *     import type { orderFulfilment } from './workflows/order-fulfilment/workflow.ts';
 *     const client = createClient<{ 'order-fulfilment': typeof orderFulfilment }>({ url });
 *     const { executionId } = await client.start('order-fulfilment', { input });
 *     const { status, output } = await client.untilEnd(executionId);
 *
 * Owns: the package's entry for them. Does not own: anything behind it (`api/typed-client.ts`). Nothing
 * inside `lib` imports this file.
 */

export { createClient } from './api/typed-client.ts';
export type { KnownWorkflows, ExecutionId, Execution, Client, ClientOptions } from './api/typed-client.ts';
export type { BulkAction, BulkOptions, BulkProgress, BulkView } from './api/bulk-answers.ts';
export { awsSignature, bearer } from './api/authorization.ts';
export type { Authorization, AwsCredentials, AwsSignatureOptions } from './api/authorization.ts';
export { ApiError } from './api/client.ts';
export type { CancelOptions, CommandOptions, ListOptions, StartOptions } from './api/call-options.ts';
export type {
  ExecutionStatus,
  ExecutionSummary,
  ExecutionView,
  IncidentPage,
  IncidentView,
  Json,
  ListPage,
  Started,
  StepView,
} from './api/answers.ts';
