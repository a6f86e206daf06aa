/**
 * No permission of the template is superfluous. One run does all that the example can do; then the run's
 * requests are checked against the policies without each single action. Some of these are also run.
 */

import { readFileSync } from 'node:fs';
import type { AccessRequest, StackPolicies } from '../../local/iam/stack-policies.ts';
import type { Json } from '../../local/template/json.ts';
import { linesOf, namerOf, policiesOf, resolved } from '../infra/named-permissions.ts';
import { MAY_BE_IDLE } from '../infra/permissions.ts';
import { exampleAssembly } from './assembly.ts';
import { doEverything } from './everything.ts';
import { policyActions, refusals, unnoticed } from './policy-changes.ts';
import { setStage, STACK, templateIn } from './stage.ts';

/**
 * The most rounds of the run: which process does which work is a race, so one round may not use every
 * permission.
 */
const MAX_ROUNDS = 3;
const mayBeIdle = linesOf(MAY_BE_IDLE, {});

let assembly: string;
let template: Json;
/** The run's requests, and the permissions that it never needed, except those with an argument. */
let requests: readonly AccessRequest[];
let idle: readonly string[];

beforeAll(async () => {
  assembly = await exampleAssembly();
  template = JSON.parse(readFileSync(templateIn(assembly), 'utf8')) as Json;
  const nameOf = namerOf(resolved(template, STACK));
  const stage = await setStage({
    schedules: false,
    present: true,
    changed: { assembly, change: (same) => same },
  });
  try {
    for (let round = 1; round <= MAX_ROUNDS && (round === 1 || idle.length > 0); round += 1) {
      await doEverything(stage, round);
      const unused = stage.cloud.control.permissions().filter(({ uses }) => uses === 0);
      idle = unused.map(nameOf).filter((line) => !mayBeIdle.includes(line));
    }
    requests = stage.cloud.control.accessRequests();
  } finally {
    await stage.strike();
  }
});

test('every permission is needed, but for those that are argued', () => {
  expect(idle).toEqual([]);
  const all = linesOfPolicies(policiesOf(resolved(template, STACK)));
  expect(mayBeIdle.filter((line) => !all.includes(line))).toEqual([]);
});

/** The permissions of policies, one line each. */
const linesOfPolicies = (policies: StackPolicies): string[] =>
  policies.permissions().map(namerOf(resolved(template, STACK)));

test('without any one action of any policy, a run is refused with function, action and resource', () => {
  expect(refusals(requests, policiesOf(resolved(template, STACK)))).toEqual([]);
  const allowed = policyActions(template).filter(({ effect }) => effect === 'Allow');
  expect(allowed.length).toBeGreaterThan(60);
  const run = { template, stackName: STACK, requests, mayBeIdle: MAY_BE_IDLE };
  expect(unnoticed(allowed, run)).toEqual([]);
});

test('without any one denial, what must be refused is not refused any more', () => {
  const denials = policyActions(template).filter(({ effect }) => effect === 'Deny');
  const queues = [...resolved(template, STACK).resources.values()].filter(
    ({ type }) => type === 'AWS::SQS::Queue',
  );
  const plain = (changed: Json): string[] => {
    const policies = policiesOf(resolved(changed, STACK));
    return queues.flatMap(({ arnPlace, physicalName }) => {
      const resource = `arn:aws:sqs:${arnPlace.region}:${arnPlace.accountId}:${physicalName}`;
      const context = { 'aws:securetransport': ['false'] };
      const verdict = policies.decide({
        who: 'events.amazonaws.com',
        action: 'sqs:SendMessage',
        resource,
        context,
      });
      return !verdict.allowed && verdict.because.startsWith('with an explicit deny') ? [] : [physicalName];
    });
  };
  expect(plain(template)).toEqual([]);
  // Only one of them refuses all queues: the agents' queues share a permission.
  const lost = denials.flatMap(({ without }) => plain(without(template)));
  expect(lost.toSorted()).toEqual(queues.map(({ physicalName }) => physicalName).toSorted());
});

describe('a run really fails', () => {
  it.each([
    ['what an agent writes', 'chargecardRole', 'dynamodb:PutItem', 'chargecardFunction', 'table/'],
    [
      'what Lambda receives for an agent',
      'reservestockRole',
      'sqs:ReceiveMessage',
      'reservestockFunction',
      '_reserve-stock',
    ],
    [
      'what the API calls',
      'SchedulerApiPermission',
      'lambda:InvokeFunction',
      'apigateway.amazonaws.com',
      'SchedulerFunction',
    ],
  ])('without %s', async (_, place, action, who, resource) => {
    const [change] = policyActions(template).filter(
      (each) => each.place.includes(place) && each.action === action,
    );
    const stage = await setStage({ schedules: false, changed: { assembly, change: change!.without } });
    try {
      const run = async (): Promise<unknown> => stage.ended(await stage.startOrder('refused'));
      await expect(run()).rejects.toThrow(`is not authorized to perform: ${action} on resource: `);
      expect(stage.cloud.control.denials()[0]?.message).toMatch(
        new RegExp(`^User: .*${who}.*${resource}`, 'i'),
      );
    } finally {
      await stage.strike();
    }
  });
});
