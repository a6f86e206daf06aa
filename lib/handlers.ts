/**
 * The one composition root: environment → ports → roles → Lambda handlers. (Under construction.)
 */
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Agent, Implementation } from './core/agent.ts';

export type AgentHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
export function agentHandler(_agent: Agent, _implementation: Implementation<unknown, unknown>): AgentHandler {
  throw new Error('not yet');
}
