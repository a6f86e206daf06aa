/**
 * AWS's SDK for Lambda durable functions on the local runner of its testing package, in the calling process,
 * in real time.
 *
 * The runner replaces the service: nothing outlives the process.
 */

import { type DurableContext, withDurableExecution } from '@aws/durable-execution-sdk-js';
import { LocalDurableTestRunner } from '@aws/durable-execution-sdk-js-testing';
import { noOp, type Payload, PAYLOAD, type Start, STEPS, timed } from '../contract.ts';

const handlerFunction = withDurableExecution(
  async (given: Payload, context: DurableContext): Promise<Payload> => {
    let data = given;
    for (let at = 0; at < STEPS; at += 1) {
      const before = data;
      data = await context.step(`s${at}`, () => noOp(before));
    }
    return data;
  },
);

export const start: Start = async () => {
  await LocalDurableTestRunner.setupTestEnvironment({ skipTime: false });
  return {
    durableBy: 'nothing: in memory',
    runOne: () =>
      timed(async () => {
        const execution = await new LocalDurableTestRunner({ handlerFunction }).run({ payload: PAYLOAD });
        return execution.getResult() as unknown;
      }),
    stop: () => LocalDurableTestRunner.teardownTestEnvironment(),
  };
};
