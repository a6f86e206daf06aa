/** The client over a file and the embedded DynamoDB give the same answers to random commands. */

import { PLANTS } from '../../proof/differential/plants.ts';
import { type Answer, sendBy } from '../../proof/differential/answers.ts';
import { answersOf, type Difference, firstDifference } from '../../proof/differential/compare.ts';
import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { startDynamo } from '../contract/dynamodb.ts';

const SEED = 3;
const COMMANDS = 700;

const expected: Answer[] = [];
beforeAll(async () => {
  const dynamo = await startDynamo();
  const { name } = await dynamo.table();
  for await (const { answer } of answersOf(sendBy(dynamo.client), name, SEED, COMMANDS))
    expected.push(answer);
  await dynamo.stop();
});

/** The first difference between the answers of DynamoDB and of a file client whose calls `change` alters. */
async function found(change = PLANTS['none'] ?? ((send: ReturnType<typeof sendBy>) => send)) {
  const { client, close } = openDatabase();
  const answers = answersOf(change(sendBy(client)), TABLE_NAME, SEED, COMMANDS);
  const difference: Difference | undefined = await firstDifference(expected, answers);
  close();
  return difference;
}

it('answers as DynamoDB does', async () => {
  expect(expected).toHaveLength(COMMANDS);
  expect(await found()).toBeUndefined();
});

describe('what is planted is found', () => {
  it.each(Object.entries(PLANTS))('%s', async (_, change) => {
    expect(await found(change)).toBeDefined();
  });
});
