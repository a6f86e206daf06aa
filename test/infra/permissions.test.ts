/** The template allows exactly the permissions in `permissions.ts`. */

import type { Json } from '../../local/template/json.ts';
import { linesOf, namerOf, policiesOf, resolved } from './named-permissions.ts';
import { PERMISSIONS } from './permissions.ts';
import { makeStack, Reader, statementsIn } from './template.ts';

const dev = new Reader(makeStack());
/** The agents of two workflows, which do not send to each other. */
const AGENTS = { pay: ['pay', 'ship'], ship: ['pay', 'ship'], mail: ['mail'], 'steadfast-bulk': [] };

test('each function may do what is listed, and nothing else', () => {
  const template = resolved(dev.template.toJSON() as Json, 'Test');
  const nameOf = namerOf(template);
  const lines = policiesOf(template).permissions().map(nameOf);
  expect([...new Set(lines)].sort()).toEqual(linesOf(PERMISSIONS, AGENTS));
});

test('nobody may do everything, or anything to everything', () => {
  const statements = dev.ofType('AWS::IAM::Policy').flatMap(statementsIn);
  expect(statements.length).toBeGreaterThan(0);
  for (const { Action, Resource } of statements) {
    for (const action of [Action].flat()) expect(action).not.toContain('*');
    expect([Resource].flat()).not.toContain('*');
  }
  dev.template.resourceCountIs('AWS::IAM::ManagedPolicy', 0);
  for (const role of dev.ofType('AWS::IAM::Role'))
    expect(role.Properties).not.toHaveProperty('ManagedPolicyArns');
});

test('every queue refuses what is not encrypted on its way', () => {
  const policies = dev.ofType('AWS::SQS::QueuePolicy');
  const covered = policies.flatMap(({ Properties }) => Properties['Queues'] as { Ref: string }[]);
  const queues = dev.ofType('AWS::SQS::Queue').map(({ id }) => id);
  expect(covered.map(({ Ref }) => Ref).toSorted()).toEqual(queues.toSorted());
  for (const policy of policies) {
    expect(statementsIn(policy)).toMatchObject([
      { Effect: 'Deny', Action: 'sqs:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  }
});
