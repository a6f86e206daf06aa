/**
 * The tags by which `steadfast quiesce` finds what has to stand still, and
 * `steadfast logs` where lines are written.
 *
 * Owns: how a part is tagged. Does not own: the names of the tags and what each part is (`lib/aws/names.ts`),
 * what is done with them (`cli/quiesce/`).
 *
 * What runs or delivers by itself and is not tagged goes on during a restore:
 * `test/infra/parts.test.ts` refuses it.
 */

import { Stack, Tags } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { type Part, TAGS } from '../aws/names.ts';

/**
 * What `cli/quiesce/deployment.ts` and `cli/logs/insights.ts` know; not the roles and security groups
 * that constructs make beside it.
 */
const TAGGED = [
  'AWS::ApiGatewayV2::Stage',
  'AWS::ECS::Service',
  'AWS::Events::Rule',
  'AWS::Lambda::Function',
  'AWS::Logs::LogGroup',
  'AWS::SQS::Queue',
  'AWS::Scheduler::ScheduleGroup',
];

/**
 * Tags of a rule, a queue, a function, a service, a stage or a schedule group; never
 * of what holds others beside it.
 */
export function tagPart(part: Part, ...resources: readonly IConstruct[]): void {
  const only = { includeResourceTypes: TAGGED };
  for (const resource of resources) {
    Tags.of(resource).add(TAGS.stack, Stack.of(resource).stackName, only);
    Tags.of(resource).add(TAGS.part, part, only);
  }
}

/** Where commands find an API that AWS's own address does not lead to. */
export function tagAddress(stage: IConstruct, url: string): void {
  Tags.of(stage).add(TAGS.url, url, { includeResourceTypes: ['AWS::ApiGatewayV2::Stage'] });
}
