/** Computes the billed units and their list price for a known sequence of calls. */

import { between, type Reading, unitsOf } from '../../bench/parts/meter.ts';
import {
  dollars,
  PRICES,
  rivals,
  total,
  withoutEnds,
  withProvisionedTable,
} from '../../bench/parts/prices.ts';

const call = (operation: string, service: string, calls: number, capacityUnits = 0, errors = 0) => ({
  caller: 'SteadfastAgentsEcho',
  service,
  operation,
  resource: 'one',
  calls,
  errors,
  capacityUnits,
});

const NOTHING: Reading = { calls: [], functions: [], logBytes: 0 };
/** One agent: ten messages in two invocations, a lost race, the end of one execution. */
const AFTER: Reading = {
  calls: [
    call('Query', 'dynamodb', 10, 10),
    call('PutItem', 'dynamodb', 21, 21, 1),
    call('TransactWriteItems', 'dynamodb', 1, 4),
    call('SendMessage', 'sqs', 9),
    call('PutEvents', 'events', 1),
    { ...call('GetItem', 'dynamodb', 99, 99), caller: 'outside' },
  ],
  functions: [{ role: 'agent', logicalId: 'SteadfastAgentsEcho', invocations: 2, cpuMs: 21.7 }],
  logBytes: 1_000,
};

describe('units on the wire', () => {
  it('are those of DynamoDB; of SQS also the poller’s; callers from outside pay for themselves', () => {
    expect(unitsOf(between(NOTHING, AFTER), 5)).toMatchObject({
      writeUnits: 25,
      readUnits: 10,
      sqsRequests: 9 + 2 * 2,
      lambdaRequests: 2,
      events: 1,
      logBytes: 1_000,
    });
  });

  it('take as long as the calls of a message one after the other and the processor time in the function’s share', () => {
    const { lambdaGbSeconds } = unitsOf(between(NOTHING, AFTER), 5);
    const { dynamodb, sqs, events } = PRICES.latencyMs;
    const waitingMs = (32 * dynamodb + 9 * sqs + events) / 5;
    expect(lambdaGbSeconds).toBeCloseTo(((waitingMs + 100) / 1_000) * 0.375, 4);
  });

  it('are counted from one reading to the next', () => {
    expect(unitsOf(between(AFTER, AFTER), 5)).toMatchObject({ writeUnits: 0, sqsRequests: 0, logBytes: 0 });
  });

  it('cost what the list says, by the million steps', () => {
    const parts = dollars(unitsOf(between(NOTHING, AFTER), 5), 10);
    expect(parts.writeUnits).toBeCloseTo((25 / 10) * 0.625);
    expect(parts.sqsRequests).toBeCloseTo((13 / 10) * 0.4);
    expect(total(parts)).toBeGreaterThan(parts.writeUnits + parts.sqsRequests);
  });

  it('cost a write and an event less if no end is announced, and less by the hour than by use', () => {
    const units = unitsOf(between(NOTHING, AFTER), 5);
    const sum = total(dollars(units, 10));
    expect(sum - withoutEnds(units, 10)).toBeCloseTo((0.625 + 1) / 10);
    // 0.00065 an hour of 2,520 units used is 0.258 a million.
    expect(sum - withProvisionedTable(units, 10)).toBeCloseTo(
      2.5 * (0.625 - 0.258) + 1 * (0.125 - 0.0516),
      2,
    );
  });
});

describe('what would be used instead', () => {
  it('costs its price for every step and every container', () => {
    const { stepFunctionsStandard, lambdaDurable } = rivals({ steps: 5, containers: 1, payloadBytes: 1_000 });
    expect(stepFunctionsStandard).toBeCloseTo(30);
    expect(lambdaDurable).toBeCloseTo(8 * 1.2 + 0.25);
  });
});
