/**
 * `npm run differential`: random commands to the client over a file and to the embedded DynamoDB.
 *
 *     npm run differential [-- --commands 100000] [--seed 1] [--each 500]
 *
 * Each seed begins with two empty tables. Prints the first difference and fails, or prints how many commands
 * had equal answers.
 */

import { parseArgs } from 'node:util';
import { openDatabase, TABLE_NAME } from '../serve/sqlite/client.ts';
import { startDynamo } from '../test/contract/dynamodb.ts';
import { type Answer, sendBy } from './differential/answers.ts';
import { answersOf, firstDifference } from './differential/compare.ts';

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '500' },
  },
});
const [count, first, each] = [Number(values.commands), Number(values.seed), Number(values.each)];

/** Shortens the payloads of large items, which show nothing. */
const cut = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > 100 ? `${value.length} characters` : value;

const dynamo = await startDynamo();
let made = 0;
for (let seed = first; made < count; seed += 1) {
  const { name, drop } = await dynamo.table();
  const { client, close } = openDatabase();
  const expected = answersOf(sendBy(dynamo.client), name, seed, each);
  const answers = (async function* (): AsyncGenerator<Answer> {
    for await (const { answer } of expected) yield answer;
  })();
  const difference = await firstDifference(answers, answersOf(sendBy(client), TABLE_NAME, seed, each));
  close();
  await drop();
  if (difference !== undefined) {
    console.error(JSON.stringify({ seed, ...difference }, cut));
    process.exitCode = 1;
    break;
  }
  made += each;
  if (made % (20 * each) === 0) console.error(`${made} commands, no difference`);
}
await dynamo.stop();
if (process.exitCode === undefined) console.log(`${made} commands, 0 differences`);
