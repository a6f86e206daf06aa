/**
 * Names a template's permissions as `permissions.ts` does: roles and resources by their purpose, not by their
 * ids.
 */

import { type Permission, StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { RUN_TYPES, type StackPlace } from '../../local/template/resource-types.ts';
import {
  type ResolvedResource,
  type ResolvedTemplate,
  resolveTemplate,
} from '../../local/template/template.ts';
import type { Row } from './permissions.ts';

export const PLACE = { region: 'us-east-1', accountId: '000000000000' };

/** Resolves a template as the local cloud does. */
export const resolved = (template: Json, stackName: string): ResolvedTemplate =>
  resolveTemplate(template, {
    stackName,
    ...PLACE,
    gatewayUrl: 'http://gateway',
    apiUrl: () => 'http://api',
    functionUrl: () => 'http://function',
  });

export const policiesOf = (template: ResolvedTemplate): StackPolicies => new StackPolicies(template, PLACE);

/** 'charge-card: sqs:SendMessage on queue of notify-customer' */
export type Namer = (permission: Pick<Permission, 'who' | 'action' | 'resource'>) => string;

export function namerOf(template: ResolvedTemplate): Namer {
  const resources = [...template.resources.values()];
  const names = new Map(
    resources.flatMap((each) => [...arnsOf(each)].map((arn) => [arn, nameOf(each)] as const)),
  );
  const agents = resources.filter(isQueueOfAgent).map(nameOf);
  /** Names a pattern with a final wildcard: the agents' queues, or unchanged. */
  const family = (pattern: string): string => {
    const taken = [...names].filter(([arn]) => arn.startsWith(pattern.slice(0, -1))).map(([, name]) => name);
    return taken.sort().join() === agents.toSorted().join() ? 'all queues' : pattern;
  };
  const thing = (arn: string): string => {
    if (arn.endsWith('_*')) return family(arn);
    if (arn.endsWith('/*') && names.has(arn.slice(0, -2))) return `objects of ${names.get(arn.slice(0, -2))}`;
    const [table, index] = arn.split('/index/');
    return index === undefined
      ? (names.get(arn) ?? arn)
      : `index ${index} of ${names.get(table ?? '') ?? table}`;
  };
  return ({ who, action, resource }) => {
    const role = template.resources.get(who);
    const on = thing(resource).replace(' of table', '');
    return `${role === undefined ? who : ownerOf(role)}: ${action} on ${on}`;
  };
}

function arnsOf(resource: ResolvedResource): string[] {
  // An ARN needs only region and account of the place.
  const arn = RUN_TYPES[resource.type]?.attributes['Arn']?.(resource, resource.arnPlace as StackPlace);
  return typeof arn === 'string' ? [arn] : [];
}

/** `Stack/Steadfast/Agents/pay/Queue/Resource` → `pay` */
function ownerOf({ metadata, logicalId }: ResolvedResource): string {
  const [, , part = logicalId, agent = ''] = String(metadata['aws:cdk:path']).split('/');
  return part === 'Agents' || part === 'Triggers' ? agent : part.toLowerCase();
}

const KINDS: Readonly<Record<string, string>> = {
  'AWS::SQS::Queue': 'queue of',
  'AWS::Logs::LogGroup': 'log of',
  'AWS::IAM::Role': 'role of',
  'AWS::Lambda::Function': 'function of',
};

const isQueueOfAgent = ({ type, metadata }: ResolvedResource): boolean =>
  type === 'AWS::SQS::Queue' && /\/Agents\/[^/]+\/Queue\//.test(String(metadata['aws:cdk:path']));

function nameOf(resource: ResolvedResource): string {
  if (resource.type === 'AWS::DynamoDB::GlobalTable') return 'table';
  if (resource.type === 'AWS::S3::Bucket' && ownerOf(resource) === 'values') return 'bucket';
  if (resource.type === 'AWS::Events::EventBus')
    return String(resource.metadata['aws:cdk:path']).includes('/WakeUps/') ? 'wake bus' : 'bus';
  const isDead = String(resource.metadata['aws:cdk:path']).includes('/DeadLetterQueue/');
  return `${isDead ? 'dead-letter ' : ''}${KINDS[resource.type] ?? resource.type} ${ownerOf(resource)}`;
}

/** Rows as single lines. @param agents each agent and those it works with */
export function linesOf(rows: readonly Row[], agents: Readonly<Record<string, readonly string[]>>): string[] {
  const names = Object.keys(agents);
  const functions = ['scheduler', 'supervisor', ...names];
  const callers: Readonly<Record<string, readonly string[]>> = {
    'every function': functions,
    'every agent': names,
  };
  const things = (on: string, who: string): readonly string[] => {
    if (on.startsWith('its ')) return [`${on.slice('its '.length)} of ${who}`];
    if (on === 'all roles') return [...functions, 'audit'].map((each) => `role of ${each}`);
    if (on === 'the queues of its workflows') return (agents[who] ?? []).map((each) => `queue of ${each}`);
    return [on];
  };
  const lines = rows.flatMap(({ who, actions, on }) =>
    (callers[who] ?? [who]).flatMap((one) =>
      actions.flatMap((action) => things(on, one).map((thing) => `${one}: ${action} on ${thing}`)),
    ),
  );
  return [...new Set(lines)].sort();
}
