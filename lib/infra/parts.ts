/**
 * The tags by which commands find the logs and the API of a deployment, and by which costs are allocated.
 *
 * Does not own: the names of the tags (`lib/aws/names.ts`), who searches for them (`cli/logs/insights.ts`,
 * `cli/console/api-url.ts`).
 */

import { Stack, Tags } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { TAGS } from '../aws/names.ts';

/** Resources that AWS charges for by use, if every region accepts tags on them. */
const CHARGED = [
  'AWS::DynamoDB::GlobalTable',
  'AWS::Lambda::Function',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::SQS::Queue',
];

/**
 * Cost-allocation tags: every chargeable resource gets the stack's name, and an agent's resources also get
 * the agent's name.
 */
export function tagCosts(
  whole: IConstruct,
  agents: Iterable<readonly [name: string, agent: IConstruct]>,
): void {
  const only = { includeResourceTypes: CHARGED };
  Tags.of(whole).add(TAGS.stack, Stack.of(whole).stackName, only);
  for (const [name, agent] of agents) Tags.of(agent).add(TAGS.agent, name, only);
}

export const tagLogs = (group: IConstruct): void => tag('logs', group, 'AWS::Logs::LogGroup');

/** @param url the API's address if AWS's own is switched off */
export function tagApi(stage: IConstruct, url?: string): void {
  tag('api', stage, STAGE);
  if (url !== undefined) Tags.of(stage).add(TAGS.url, url, { includeResourceTypes: [STAGE] });
}
const STAGE = 'AWS::ApiGatewayV2::Stage';

function tag(part: string, resource: IConstruct, type: string): void {
  const only = { includeResourceTypes: [type] };
  Tags.of(resource).add(TAGS.stack, Stack.of(resource).stackName, only);
  Tags.of(resource).add(TAGS.part, part, only);
}
