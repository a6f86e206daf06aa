/**
 * Reading the exports of agents' files in a separate process: each file gets an answer, even if one ends the
 * process, and a handler that differs from its agent's declaration is refused.
 */

import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { type AskHandlers, handlersIn } from '../../lib/infra/handlers.ts';
import { project } from './fixture.ts';

const handler = (parts: string): string =>
  `const implementation = { execute: async () => 1, ${parts} };
  export const handler = Object.assign(async (): Promise<void> => {}, {
    worker: { agent: { spec: { name: 'pay' } }, implementation },
  });\n`;

test('each file is reported, also beside one that prints, throws, does not end or ends the process', async () => {
  const root = project({
    'a.ts': handler('undo: async () => {}, retries: 3'),
    'b.mts': `console.log('loaded');\nsetInterval(() => {}, 1_000);\n${handler('probe: async () => 1')}`,
    'c.ts': "throw new Error('no TABLE');",
    'd.ts': 'export const handler = async (): Promise<number> => 1;',
    'e.ts': 'process.exit(3);',
    'f.ts': handler(''),
  });
  const files = ['a.ts', 'b.mts', 'c.ts', 'd.ts', 'e.ts', 'f.ts'].map((name) => `${root}/${name}`);
  const read = await handlersIn(files, root);
  expect(read.map(({ file }) => file)).toEqual(files);
  expect(read).toMatchObject([
    { agent: 'pay', parts: ['execute', 'undo'] },
    { agent: 'pay', parts: ['execute', 'probe'] },
    { failed: 'no TABLE' },
    { parts: [] },
    { failed: 'its process ended with 3' },
    { agent: 'pay', parts: ['execute'] },
  ]);
});

test('a file that ends the process later is not taken for the next one, which is checked', async () => {
  const root = project({
    'a.ts': `(globalThis as { ends?: () => void }).ends = () => process.exit(4);\n${handler('')}`,
    // In a process of its own nothing ends it.
    'b.ts': `(globalThis as { ends?: () => void }).ends?.();\n${handler('undo: async () => {}')}`,
  });
  const read = await handlersIn([`${root}/a.ts`, `${root}/b.ts`], root);
  expect(read).toMatchObject([
    { agent: 'pay', parts: ['execute'] },
    { agent: 'pay', parts: ['execute', 'undo'] },
  ]);
});

describe('an agent’s file', () => {
  const ENTRY = 'examples/order/agents/pay.ts';
  const found = async (answer: object, spec: object = {}) => {
    const asked: string[] = [];
    const pay = { name: 'pay', effect: 'probed', undo: 'required', timeoutMs: 1_000, ...spec };
    const root = project({
      'examples/order/workflow.ts': `export const payIt = ${JSON.stringify({ kind: 'steadfast:agent', spec: pay })};
        export const it = { kind: 'steadfast:workflow', name: 'order', agents: [payIt] };`,
      [ENTRY]: "throw new Error('run in this process');",
    });
    const ask: AskHandlers = async (files) => {
      asked.push(...files.map((file) => file.slice(root.length + 1)));
      return files.map((file) => ({ file, ...answer }) as never);
    };
    const { warnings } = await discoverWorkflows({ root, folders: ['examples'] }, ask);
    return { asked, warnings };
  };
  const parts = ['execute', 'probe', 'undo'];

  test.each([
    ['with all parts', { agent: 'pay', parts }],
    ['and one that is no part', { agent: 'pay', parts: [...parts, 'retries'] }],
    ['that is no handler of ours', { parts: [] }],
  ])('%s is taken, and loaded elsewhere', async (_, answer) => {
    expect(await found(answer)).toEqual({ asked: [ENTRY], warnings: [] });
  });

  test('with the handler of another agent is refused', async () => {
    await expect(found({ agent: 'ship', parts })).rejects.toThrow(
      `${ENTRY} exports the handler of the agent 'ship'; it must be that of 'pay': export const handler = payIt.handler({ … })`,
    );
  });

  test.each([
    ['undo', "undo: 'none' where there is nothing to undo"],
    ['probe', "effect: 'idempotent' where the service deduplicates"],
  ])('without the %s that is declared is refused', async (part, other) => {
    await expect(found({ agent: 'pay', parts: parts.filter((one) => one !== part) })).rejects.toThrow(
      `${ENTRY} has no ${part}, with which the agent 'pay' is declared: write ${part}, or declare ${other}`,
    );
  });

  test.each([
    ['unsafe', { effect: 'unsafe' }],
    ['idempotent', { effect: 'idempotent', probe: 'none' }],
  ])('with a probe that is never called is refused: %s', async (effect, spec) => {
    await expect(found({ agent: 'pay', parts }, spec)).rejects.toThrow(
      `${ENTRY} has a probe, which is never called: the agent 'pay' is declared with effect: '${effect}' and no probe; leave it out, or declare effect: 'probed'`,
    );
  });

  test('is refused where it makes no handler of a misspelled part', async () => {
    const message = "agent 'pay': 'exceute' is not a part of a handler; did you mean 'execute'?";
    await expect(found({ refused: message })).rejects.toThrow(`${ENTRY}: ${message}`);
    const steadfast = new URL('../../lib/index.ts', import.meta.url).pathname;
    const root = project({
      'a.ts': `import { agent } from '${steadfast}';
        const any = { '~standard': { version: 1, vendor: 'own', validate: (value) => ({ value }) } };
        const pay = agent('pay', { input: any, output: any, effect: 'idempotent' });
        export const handler = pay.handler({ exceute: async () => 1 });`,
    });
    expect(await handlersIn([`${root}/a.ts`], root)).toEqual([{ file: `${root}/a.ts`, refused: message }]);
  });

  test('is a warning where it does not load here', async () => {
    expect((await found({ failed: 'no TABLE' })).warnings).toEqual([
      {
        id: `steadfast:unseenHandler[${ENTRY}]`,
        message: `${ENTRY} could not be loaded to check the parts of its handler: no TABLE. A part that agent 'pay' needs would be missed only when it runs: read settings and open connections in execute, not when the file is loaded`,
      },
    ]);
  });
});
