/** Makes the policies of a small stack, and checks requests against them. */
import type { Context } from '../../local/iam/match.ts';
import { StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { resolveTemplate } from '../../local/template/template.ts';

const PLACE = { region: 'us-east-1', accountId: '000000000000' };
export const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/Shop-Table';
export const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:Shop-Queue';
export const FN = 'arn:aws:lambda:us-east-1:000000000000:function:Shop-Fn';
const TRUST = {
  Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } }],
};

export type Resources = Record<string, { Type: string; Properties: Record<string, Json> }>;

/** A stack of a function with a role, a table and a queue, and these resources. */
export function stack(role: Record<string, Json>, more: Resources = {}): StackPolicies {
  const resources: Resources = {
    Table: { Type: 'AWS::DynamoDB::Table', Properties: {} },
    Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
    Role: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: TRUST, ...role } },
    Fn: { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
    ...more,
  };
  const urls = {
    gatewayUrl: 'http://gateway',
    apiUrl: () => 'http://api',
    functionUrl: () => 'http://function',
  };
  const place = { stackName: 'Shop', ...PLACE, ...urls };
  return new StackPolicies(resolveTemplate({ Resources: resources }, place), PLACE);
}

export const inline = (...statements: Json[]): Record<string, Json> => ({
  Policies: [{ PolicyName: 'own', PolicyDocument: { Statement: statements } }],
});
export const allow = (Action: Json, Resource: Json = '*', more: Record<string, Json> = {}): Json => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...more,
});
export const deny = (Action: Json, Resource: Json = '*'): Json => ({ Effect: 'Deny', Action, Resource });

/** 'yes', or the reason of the refusal. */
export function ask(
  policies: StackPolicies,
  action: string,
  resource: string,
  context: Context = {},
  who = 'Fn',
): string {
  const verdict = policies.decide({ who, action, resource, context });
  return verdict.allowed ? 'yes' : verdict.because;
}
export const none = (action: string): string =>
  `because no identity-based policy allows the ${action} action`;
