/** The six workflows of `six.ts` in DBOS. */

import { DBOS } from '@dbos-inc/dbos-sdk';
import { book, cancel, copyPage, payBack, post, readJob, submit } from '../services.ts';

// Hello
async function greet({ name }: { name: string }) {
  return { text: await DBOS.runStep(async () => `Hello, ${name}!`, { name: 'greet' }) };
}
export const hello = DBOS.registerWorkflow(greet, { name: 'hello' });

// Saga of three
async function bookTrip({ city }: { city: string }) {
  const undos: (() => Promise<unknown>)[] = [];
  try {
    for (const kind of ['flight', 'hotel', 'car']) {
      const key = `${DBOS.workflowID}-${kind}`;
      undos.push(() => DBOS.runStep(() => cancel(key, kind), { name: `cancel-${kind}` }));
      await DBOS.runStep(() => book(key, kind, city), { name: kind });
    }
  } catch (error) {
    for (const undo of undos.toReversed()) await undo();
    throw error;
  }
}
export const trip = DBOS.registerWorkflow(bookTrip, { name: 'trip' });

// Approval with a deadline
async function payAfterApproval({ orderId, amount }: { orderId: string; amount: number }) {
  const isApproved = await DBOS.recv<boolean>('ok', { timeoutSeconds: 2 * 86_400 });
  if (isApproved !== true) throw new Error('rejected');
  await DBOS.runStep(() => payBack(`${DBOS.workflowID}`, orderId, amount), { name: 'pay' });
}
export const refund = DBOS.registerWorkflow(payAfterApproval, { name: 'refund' });
export const answer = (workflowId: string, isApproved: boolean) => DBOS.send(workflowId, isApproved, 'ok');

// Poll
async function encode({ film }: { film: string }) {
  const { id } = await DBOS.runStep(() => submit(`${DBOS.workflowID}`, film), { name: 'start' });
  for (let round = 0; round < 300; round += 1) {
    const { isDone, url } = await DBOS.runStep(() => readJob(id), { name: 'read' });
    if (isDone) return { url };
    await DBOS.sleep(30_000);
  }
  throw new Error('not done');
}
export const encoding = DBOS.registerWorkflow(encode, { name: 'encoding' });

// Loop
async function copyAll(first: { cursor: string }) {
  let page = first;
  do {
    const { cursor } = page;
    page = await DBOS.runStep(() => copyPage(cursor), { name: 'copy' });
  } while (page.cursor !== '');
}
export const copying = DBOS.registerWorkflow(copyAll, { name: 'copying' });

// One per key
async function postOne({ account, amount }: { account: string; amount: number }) {
  await DBOS.runStep(() => post(`${DBOS.workflowID}`, account, amount), { name: 'post' });
}
const postNow = DBOS.registerWorkflow(postOne, { name: 'posting' });
export const makeQueue = () => DBOS.registerQueue('posting', { partitionConcurrency: 1 });
export const posting = (account: string, amount: number) =>
  DBOS.startWorkflow(postNow, { queueName: 'posting', enqueueOptions: { queuePartitionKey: account } })({
    account,
    amount,
  });
