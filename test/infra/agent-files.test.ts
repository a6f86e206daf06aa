/** What an agent's file says of its handler: as text where that suffices, else as a module that is asked. */

import { discoverWorkflows } from '../../lib/infra/discover.ts';
import type { AskHandlers } from '../../lib/infra/handlers.ts';
import { AGENT_MODULE, project } from './fixture.ts';

const found = async (files: Record<string, string>, ask: AskHandlers) =>
  discoverWorkflows({ root: project(files), folders: ['examples'] }, ask);

describe('an agent’s file, which is not run', () => {
  const declared = (name: string, more = {}) =>
    JSON.stringify({
      kind: 'steadfast:agent',
      spec: { name, timeoutMs: 1_000, effect: 'probed', undo: 'required', ...more },
    });
  const notAsked: AskHandlers = async (files) => files.map((file) => ({ file, failed: 'not asked' }));
  const filesWith = (pay: string, ending = 'ts') => ({
    'examples/order/workflow.ts': `export const payIt = ${declared('pay')};
        export const shipIt = ${declared('ship', { effect: 'none', undo: 'none' })};
        export const it = { kind: 'steadfast:workflow', name: 'order', agents: [payIt, shipIt] };`,
    'examples/order/agents/ship.ts': AGENT_MODULE,
    [`examples/order/agents/pay.${ending}`]: `throw new Error('run');\n${pay}`,
  });
  const problemOf = async (pay: string, ending = 'ts', ask = notAsked) => {
    const problem: unknown = await found(filesWith(pay, ending), ask).catch((error: Error) => error.message);
    return typeof problem === 'string' ? problem : 'none';
  };
  const from = (names: string, path = '../workflow.js') => `import { ${names} } from '${path}';\n`;
  const whole = '({ execute: async () => 1, probe, undo: async () => {} })';

  test.each([
    ['as methods', '({ async execute() {}, probe(ctx) { return { probe: 1 }; }, async undo() {} })'],
    ['by name', '({ execute, probe: ask, undo })'],
    ['under keys that are texts', "({ execute, 'probe': ask, 'undo': back })"],
    ['beside a brace in a pattern', '({ execute: (c, i) => { return /[}]/.test(i); }, probe, undo })'],
    ['and one that is no part', '({ execute, probe, undo, retries: [1, { a: 2 }] })'],
  ])('with all parts, %s, is taken', async (_, parts) => {
    expect(await problemOf(`${from('payIt')}export const handler = payIt.handler${parts};`)).toBe('none');
  });

  test.each([
    ['of its own agent', `${from('payIt')}export const handler = payIt.handler${whole};`],
    [
      'of its own, under another name',
      `${from('shipIt as no, payIt as p')}export const handler = p.handler${whole};`,
    ],
    [
      'of an agent of elsewhere',
      `${from('shipIt', '../other.js')}export const handler = shipIt.handler${whole};`,
    ],
    ['whose parts are spread', `${from('payIt')}export const handler = payIt.handler({ ...parts });`],
    ['whose parts are made elsewhere', `${from('payIt')}export const handler = payIt.handler(parts());`],
    [
      'of another in a comment',
      `${from('payIt')}// as shipIt.handler(\nexport const handler = payIt.handler${whole};`,
    ],
    ['that does not parse', `${from('shipIt')}export const handler = shipIt.handler(;`],
  ])('with a handler %s, is taken', async (_, text) => {
    expect(await problemOf(text)).toBe('none');
  });

  test.each([
    ['js', from('shipIt')],
    ['ts', from('type Other, shipIt', '../workflow.ts')],
    ['mts', from('shipIt', '../workflow')],
  ])('with the handler of another agent, is refused: .%s', async (ending, line) => {
    expect(await problemOf(`${line}export const handler = shipIt.handler({ execute });`, ending)).toBe(
      `examples/order/agents/pay.${ending} exports the handler of the agent 'ship'; it must be that of 'pay': export const handler = payIt.handler({ … })`,
    );
  });

  test('with the handler of another agent of its contracts, is refused', async () => {
    const contracts = (name: string) => ({
      ...filesWith(
        `import { one as it } from '../contracts.ts';\nexport const handler = it.handler${whole};`,
      ),
      'examples/order/contracts.ts': `export const one = agent('${name}', { input, output });`,
    });
    expect(await found(contracts('pay'), notAsked)).toMatchObject({ warnings: [] });
    await expect(found(contracts('ship'), notAsked)).rejects.toThrow(
      /^examples\/order\/agents\/pay\.ts exports the handler of the agent 'ship'; it must be that of 'pay'/,
    );
  });

  test.each([
    ['unsafe', { effect: 'unsafe' }],
    ['idempotent', { effect: 'idempotent', probe: 'none' }],
  ])('with a probe that is never called, is refused: %s', async (effect, more) => {
    const files = filesWith(`${from('payIt')}export const handler = payIt.handler${whole};`);
    const workflow = files['examples/order/workflow.ts'].replace(declared('pay'), declared('pay', more));
    await expect(found({ ...files, 'examples/order/workflow.ts': workflow }, notAsked)).rejects.toThrow(
      `examples/order/agents/pay.ts has a probe, which is never called: the agent 'pay' is declared with effect: '${effect}' and no probe; leave it out, or declare effect: 'probed'`,
    );
  });

  const known = "effect: 'idempotent' where the service deduplicates";
  test.each([
    [
      'undo',
      '({ execute, probe: async () => done(1) }) // no undo',
      "undo: 'none' where there is nothing to undo",
    ],
    ['probe', '({ execute, undo }); export const probe = (input) => ({ ...input })', known],
    [
      'probe',
      "({ execute: async (_ctx, input) => ({ ...input, text: '}) ...' }), undo: async () => {} })",
      known,
    ],
    ['probe', '({ execute: (ctx, input) => api.probe(input), undo })', known],
    ['probe', '({ execute: probe, undo })', known],
    ['undo', '({ execute, probe, /* undo: later */ })', "undo: 'none' where there is nothing to undo"],
  ])('without the %s that is declared, is refused', async (part, parts, other) => {
    expect(await problemOf(`${from('payIt')}export const handler = payIt.handler${parts};`)).toBe(
      `examples/order/agents/pay.ts has no ${part}, with which the agent 'pay' is declared: write ${part}, or declare ${other}`,
    );
  });
});

describe('an agent’s file whose text does not say what its handler has', () => {
  const ENTRY = 'examples/order/agents/pay.ts';
  const declared = { effect: 'probed', undo: 'required', timeoutMs: 1_000 };
  const agents = [{ kind: 'steadfast:agent', spec: { name: 'pay', ...declared } }];
  const files = (pay: string) => ({
    'examples/order/workflow.ts': `export const payIt = ${JSON.stringify(agents[0])};
      export const it = { kind: 'steadfast:workflow', name: 'order', agents: [payIt] };`,
    [ENTRY]: pay,
  });
  const spread =
    "import { payIt } from '../workflow.ts';\nexport const handler = payIt.handler({ ...parts });";
  const asking = async (pay: string, answer: object) => {
    const asked: string[] = [];
    const root = project(files(pay));
    const ask: AskHandlers = async (all) => {
      asked.push(...all.map((file) => file.slice(root.length + 1)));
      return all.map((file) => ({ file, ...answer }) as never);
    };
    const end = await discoverWorkflows({ root, folders: ['examples'] }, ask).catch(
      (error: Error) => error.message,
    );
    return { asked, end: typeof end === 'string' ? end : end.warnings };
  };
  const whole = { agent: 'pay', parts: ['execute', 'probe', 'undo'] };

  test.each([
    ['spread', spread],
    ['made elsewhere', spread.replace('{ ...parts }', 'parts()')],
    ['of two calls', `${spread}\nexport const other = payIt.handler({ execute, probe, undo });`],
    ['made by a helper', "import { made } from '../made.ts';\nexport const handler = made();"],
    ['another module’s', "export { handler } from '../made.ts';"],
    ['all of another module', "export * from '../made.ts';"],
  ])('is asked as a module: %s', async (_, text) => {
    expect(await asking(text, whole)).toEqual({ asked: [ENTRY], end: [] });
    expect((await asking(text, { ...whole, parts: ['execute', 'probe'] })).end).toMatch(
      /^examples\/order\/agents\/pay\.ts has no undo, with which the agent 'pay' is declared/,
    );
    expect((await asking(text, { ...whole, agent: 'ship' })).end).toMatch(
      /pay\.ts exports the handler of the agent 'ship'; it must be that of 'pay'/,
    );
    expect((await asking(text, { parts: [] })).end).toEqual([]);
  });

  test('is a warning where that does not load here', async () => {
    expect((await asking(spread, { failed: 'no TABLE' })).end).toEqual([
      {
        id: `steadfast:unseenHandler[${ENTRY}]`,
        message: `${ENTRY} hides the parts of its handler, and could not be loaded to check them: no TABLE. A part that agent 'pay' needs would be missed only when it runs: list the parts in handler({ … })`,
      },
    ]);
  });

  test.each([
    ['its own text says all', spread.replace('...parts', 'execute, probe, undo')],
    ['it is a function of its own', 'export const handler = async (): Promise<object> => ({});'],
    ['it calls another program', "export const handler = remoteAgent(payIt, { url: 'https://a.example' });"],
  ])('is not loaded where %s', async (_, text) => {
    expect((await asking(text.replace('remoteAgent(', '/* remoteAgent */ String('), whole)).asked).toEqual(
      [],
    );
  });
});
