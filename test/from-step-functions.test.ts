/** docs/FROM-STEP-FUNCTIONS.md: its state machines are valid, and its workflows compile and do what the page says. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DeclaredAgent, PermanentError, type Workflow } from 'steadfast';
import { externalWorld, testWorkflow, type WorkflowTest } from 'steadfast/testing';

const ROOT = join(import.meta.dirname, '..');
const page = readFileSync(join(ROOT, 'docs', 'FROM-STEP-FUNCTIONS.md'), 'utf8');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

/** The first block of code is the agents' file, each other one exports a workflow. */
const [agentsFile = '', ...workflowFiles] = blocksOf('ts');
const machines = blocksOf('json');
const nameIn = (text: string): string => /export const (\w+) = workflow\(/.exec(text)?.[1] ?? 'none';

/** Inside the project, where the packages are found; ignored by git. */
let root: string;
let agents: Readonly<Record<string, DeclaredAgent<never>>>;

beforeAll(async () => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'step-functions-'));
  writeFileSync(join(root, 'agents.ts'), agentsFile);
  for (const text of workflowFiles) writeFileSync(join(root, `${nameIn(text)}.ts`), text);
  for (const [at, text] of machines.entries()) writeFileSync(join(root, `${at}.asl.json`), text);
  const loaded: object[] = [await import(join(root, 'agents.ts')), await import(join(root, 'callback.ts'))];
  agents = Object.assign({}, ...loaded) as typeof agents;
});
afterAll(() => rmSync(root, { recursive: true }));

test('each state machine is followed by a workflow', () => {
  expect(workflowFiles.map(nameIn)).toEqual([
    'task',
    'choice',
    'parallel',
    'list',
    'wait',
    'caught',
    'callback',
  ]);
  expect(machines).toHaveLength(workflowFiles.length);
});

test('the state machines are valid, as a validator of theirs says', () => {
  const validator = join(ROOT, 'node_modules', '.bin', 'asl-validator');
  const files = machines.flatMap((_, at) => ['--json-path', join(root, `${at}.asl.json`)]);
  const validate = (args: readonly string[]) => () => execFileSync(validator, args, { stdio: 'pipe' });
  expect(validate(files)).not.toThrow();
  const wrong = (machines[0] ?? '').replace('"End": true', '"Next": "Nowhere"');
  expect(validate(['--json-definition', wrong])).toThrow();
});

test('the workflows have right types', () => {
  const config = { extends: '../../tsconfig.json', include: ['*.ts'] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  expect(() => execFileSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' })).not.toThrow();
});

const OUTPUTS: Readonly<Record<string, object>> = {
  chargeCard: { chargeId: 'c-1' },
  reserveStock: { reservationId: 'r-1' },
  ship: { trackingId: 't-1' },
  score: { score: 7 },
  tell: {},
  askWarehouse: {},
};

/** A workflow of the page, its agents acting on one world. */
async function trialOf(
  name: string,
): Promise<{ trial: WorkflowTest<never>; world: ReturnType<typeof externalWorld> }> {
  const world = externalWorld();
  const { [name]: made } = (await import(join(root, `${name}.ts`))) as Record<string, Workflow>;
  const handlers = Object.entries(OUTPUTS).map(([agent, output]) =>
    agents[agent]!.handler({
      execute: async ({ effectKey }: { effectKey: string }) => {
        await world.actOnce(effectKey, agent);
        return output;
      },
      ...(agent === 'chargeCard' ? { probe: async () => ({ verdict: 'not-done' }) } : {}),
      ...(['tell', 'askWarehouse', 'score'].includes(agent)
        ? {}
        : { undo: ({ effectKey }: { effectKey: string }) => world.undo(effectKey) }),
    } as never),
  );
  return { trial: testWorkflow(made!, { agents: handlers }) as WorkflowTest<never>, world };
}

const ORDER = { orderId: 'o-1', amount: 4_200 } as never;

test('Task and Retry: the same again, after pauses', async () => {
  const { trial } = await trialOf('task');
  trial.fail(agents['chargeCard']!, { times: 3 });
  const { status, output, steps } = await (await trial.start(ORDER)).untilEnd();
  expect([status, output, steps['charge']?.attempts]).toEqual(['succeeded', { chargeId: 'c-1' }, 4]);
});

test.each([
  [20_000, 'done', 'skipped'],
  [4_200, 'skipped', 'done'],
])('Choice: an order of %s', async (amount, thorough, quick) => {
  const { trial } = await trialOf('choice');
  const { status, output, steps } = await (await trial.start({ orderId: 'o-1', amount } as never)).untilEnd();
  expect([status, output]).toEqual(['succeeded', { score: 7 }]);
  expect([steps['thorough']?.status, steps['quick']?.status]).toEqual([thorough, quick]);
});

test('Parallel: side by side, and a failure undoes the other branch', async () => {
  const { trial, world } = await trialOf('parallel');
  expect((await (await trial.start(ORDER)).untilEnd()).status).toBe('succeeded');
  trial.fail(agents['chargeCard']!, { with: new PermanentError('no money') });
  expect((await (await trial.start(ORDER)).untilEnd()).status).toBe('compensated');
  const reserved = world.effects().filter(({ kind }) => kind === 'reserveStock');
  expect(reserved.map(({ undone }) => undone ?? false)).toEqual([false, true]);
});

test('Map: an item may fail', async () => {
  const { trial } = await trialOf('list');
  trial.fail(agents['reserveStock']!, { with: new PermanentError('sold out') });
  const orders = Array.from({ length: 20 }, (_, at) => `o-${at}`);
  const { status, output } = await (await trial.start({ orders } as never)).untilEnd();
  expect([status, output]).toEqual(['succeeded', { asked: 20 }]);
});

test('Wait: ten minutes, and until a time', async () => {
  const { trial } = await trialOf('wait');
  const notBefore = new Date(trial.now() + 3_600_000).toISOString();
  const run = await trial.start({ orderId: 'o-1', notBefore } as never);
  await trial.skip('59m');
  expect((await run.state()).steps['cool-off']?.status).toBe('done');
  expect((await run.state()).steps['ship']?.status).toBe('pending');
  expect((await run.untilEnd()).status).toBe('succeeded');
});

test('Catch: what was done is taken back, and then somebody is told', async () => {
  const { trial, world } = await trialOf('caught');
  trial.fail(agents['score']!, { with: new PermanentError('no such model') });
  trial.fail(agents['ship']!, { with: new PermanentError('no such address') });
  const { status, steps } = await (await trial.start(ORDER)).untilEnd();
  expect([status, steps['thorough']?.status, steps['quick']?.status]).toEqual([
    'compensated',
    'tolerated',
    'done',
  ]);
  expect(world.effects().map(({ kind, undone }) => [kind, undone ?? false])).toEqual([
    ['chargeCard', true],
    ['score', false],
    ['tell', false],
  ]);
});

test('waitForTaskToken: the party that has the token answers', async () => {
  const { trial } = await trialOf('callback');
  const run = await trial.start({ orderId: 'o-1' } as never);
  await run.untilAsked('packed');
  await run.complete('packed', { boxes: 2 });
  const { status, output } = await run.untilEnd();
  expect([status, output]).toEqual(['succeeded', { boxes: 2 }]);
});
