/** The permissions of a deployment with lanes, and refused lanes. */

import { checkLanes, type FoundWorkflow } from '../../lib/infra/discovery.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';

const [order, report] = FOUND.workflows as readonly [FoundWorkflow, FoundWorkflow];
const inLane = (workflow: FoundWorkflow, atMost: number): FoundWorkflow => ({
  ...workflow,
  lanes: [{ workflow: workflow.name, name: 'customer', atMost }],
});

/** The conditions under which each deciding function may delete from the table. */
function deletions(workflows: readonly FoundWorkflow[]): unknown[] {
  const reader = new Reader(makeStack({ workflows: { ...FOUND, workflows } }));
  return ['Scheduler', 'Supervisor', 'Agents/pay', 'Agents/mail'].map((path) =>
    reader
      .statementsOf(path)
      .filter(({ Action }) => [Action].flat().includes('dynamodb:DeleteItem'))
      .map(({ Condition }) => Condition),
  );
}

const keys = (...beginnings: readonly string[]): object => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': beginnings.map((one) => `${one}#*`) },
});
const lanes = keys('lane');
/** The keys that the API erases. */
const erased = keys('exec', 'mailbox');

test('each deciding function may delete items of lanes, and nothing else', () => {
  expect(deletions([inLane(order, 1), report])).toEqual([[lanes, erased], [lanes], [lanes], [lanes]]);
});

test('without a lane nobody who decides may delete', () => {
  expect(deletions(FOUND.workflows)).toEqual([[erased], [], [], []]);
});

test('the template says which workflow has which lane', () => {
  const said = (workflows: readonly FoundWorkflow[]): unknown =>
    new Reader(makeStack({ workflows: { ...FOUND, workflows } })).functionOf('Scheduler').Metadata?.[
      'steadfast:lanes'
    ];
  expect(said([inLane(order, 1), inLane(report, 1)])).toBe(`${order.name}/customer,${report.name}/customer`);
  expect(said(FOUND.workflows)).toBeUndefined();
});

test('one name has one number of places', () => {
  expect(() => checkLanes([inLane(order, 2), inLane(report, 2)])).not.toThrow();
  expect(() => checkLanes([inLane(order, 2), inLane(report, 3)])).toThrow(
    "lane 'customer' has the limit 2 in workflow 'order' and 3 in 'report'",
  );
});
