import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { banner, quoted } from '../../cli/dev/banner.ts';
import { consoleLine } from '../../cli/console/files.ts';
import { openDevFolder, runningApi } from '../../cli/dev/dev-folder.ts';
import { startExternalParties } from '../../cli/dev/external-parties.ts';
import { showProgress } from '../../cli/dev/progress.ts';
import { run } from '../../cli/main.ts';
import { findProject, type Project } from '../../cli/dev/project.ts';
import { everythingIn, projectFolders } from '../../cli/dev/workflow-folders.ts';
import { type Io, ioOf } from '../../cli/io.ts';
import { fakeApi } from './fake-api.ts';
import { eachFolder, writeFiles } from '../fresh-folder.ts';

let root: string;
let said: string;
const io = ioOf({
  out: (text) => {
    said += text;
  },
  err: () => {},
  env: {},
  isTTY: false,
});

eachFolder('dev', (path) => (root = path));
beforeEach(() => {
  said = '';
});

const write = (files: Readonly<Record<string, string>>): void => writeFiles(root, files);

describe('the folder of dev', () => {
  test('is made if it does not exist, and found again with its data', () => {
    const first = openDevFolder(join(root, 'data'), false);
    writeFileSync(join(first.external('order'), 'ledger'), 'x');
    first.release();
    const second = openDevFolder(join(root, 'data'), false);
    expect(readFileSync(join(second.external('order'), 'ledger'), 'utf8')).toBe('x');
  });

  test('D1 that holds other files is refused and left as it is', () => {
    write({ 'thesis.txt': 'years of work', 'cdk.out/x': '' });
    expect(() => openDevFolder(root, true)).toThrow(
      `${root} contains other files; choose an empty or a new folder with --data`,
    );
    expect(existsSync(join(root, 'thesis.txt'))).toBe(true);
    expect(existsSync(join(root, 'cdk.out/x'))).toBe(true);
  });

  test.each([
    ['a file', 'notes', 'a file is in the way'],
    ['in a file', 'notes/data', 'a file is in the way'],
  ])('that cannot be one is refused with the next step: %s', (_, name, why) => {
    write({ notes: 'mine' });
    expect(() => openDevFolder(join(root, name), false)).toThrow(
      `the data cannot be stored in ${join(root, name)}: ${why}; choose another folder with --data`,
    );
  });

  test('whose marker cannot be written is refused', () => {
    mkdirSync(join(root, 'steadfast-dev.json'));
    expect(() => openDevFolder(root, false)).toThrow(
      /^the data cannot be stored in .*: EISDIR.*; choose another folder with --data$/,
    );
  });

  test('is emptied by --fresh', () => {
    const first = openDevFolder(root, false);
    writeFileSync(join(first.external('order'), 'ledger'), 'x');
    first.release();
    const second = openDevFolder(root, true);
    expect(existsSync(join(second.external('order'), 'ledger'))).toBe(false);
  });

  test('says where the API is to commands of its project, while its process lives', () => {
    expect(runningApi(root)).toBeUndefined();
    const folder = openDevFolder(join(root, '.steadfast/data'), false);
    expect(runningApi(root)).toBeUndefined();
    folder.announce('http://127.0.0.1:4999');
    expect(runningApi(join(root, 'lib/deep'))).toBe('http://127.0.0.1:4999');
    folder.release();
    expect(runningApi(root)).toBeUndefined();
    write({ '.steadfast/data/steadfast-dev.json': '{"pid":99999999,"apiUrl":"http://127.0.0.1:1"}' });
    expect(runningApi(root)).toBeUndefined();
  });

  test('D2 in use by a living process is refused; a dead one’s is taken over', () => {
    write({ 'steadfast-dev.json': JSON.stringify({ pid: process.ppid }) });
    expect(() => openDevFolder(root, true)).toThrow(`another steadfast dev (process ${process.ppid}) uses`);
    write({ 'steadfast-dev.json': 'cut off in the mid' });
    openDevFolder(root, false).release();
  });
});

const projectAt = (app = 'node --import tsx bin/app.ts'): Project => findProject(root, app);

test('workflow folders are those that synthesis finds, with what they hold for dev', () => {
  write({
    'cdk.json': '{"context":{"steadfast:folders":"examples, workflows"}}',
    'examples/b/workflow.ts': '',
    'examples/b/dev.ts': '',
    'examples/notes/readme.md': '',
    'examples/a/workflow.ts': '',
    'workflows/c/workflow.ts': '',
    'workflows/c/example-input.json': '{}',
  });
  expect(projectFolders(projectAt())).toEqual([
    { name: 'a', path: join(root, 'examples/a'), devFile: undefined, exampleInput: undefined },
    {
      name: 'b',
      path: join(root, 'examples/b'),
      devFile: join(root, 'examples/b/dev.ts'),
      exampleInput: undefined,
    },
    {
      name: 'c',
      path: join(root, 'workflows/c'),
      devFile: undefined,
      exampleInput: join(root, 'workflows/c/example-input.json'),
    },
  ]);
});

test('the folder that is to be tried comes first', () => {
  write({
    'cdk.json': '{"context":{"steadfast:try":"b"}}',
    'workflows/a/workflow.ts': '',
    'workflows/b/workflow.ts': '',
    'workflows/c/workflow.ts': '',
  });
  expect(projectFolders(projectAt()).map(({ name }) => name)).toEqual(['b', 'a', 'c']);
});

test('a laptop runs all of them, unless cdk.json names some', () => {
  write({ 'cdk.json': '{"context":{}}' });
  expect(everythingIn(projectAt())).toEqual({ 'steadfast:only': '*' });
  write({ 'cdk.json': '{"context":{"steadfast:only":"a"}}' });
  expect(everythingIn(projectAt())).toEqual({});
});

describe('dev.ts of a folder', () => {
  const start = async (source: string, stops: (() => Promise<void>)[] = []) => {
    write({
      // Without it dev.ts is CommonJS, which a thread of esbuild compiles.
      'examples/a/package.json': '{ "type": "module" }',
      'examples/a/workflow.ts': '',
      'examples/a/dev.ts': source,
    });
    return startExternalParties(
      projectFolders(projectAt()),
      (name) => join(root, 'data', name),
      io,
      (stop) => stops.push(stop),
    );
  };

  test('that is new while dev runs is started, and no other once more', async () => {
    const source = (name: string): string =>
      `export default async () => ({ environment: { ${name}: 'on' }, stop: async () => {} });`;
    write({
      'package.json': '{"type":"module"}',
      'examples/a/workflow.ts': '',
      'examples/b/workflow.ts': '',
    });
    write({ 'examples/a/dev.ts': source('A') });
    const running = new Set<string>();
    const begin = () =>
      startExternalParties(
        projectFolders(projectAt()),
        () => root,
        io,
        () => {},
        running,
      );
    expect(await begin()).toEqual({ A: 'on' });
    write({ 'examples/b/dev.ts': source('B') });
    expect(await begin()).toEqual({ B: 'on' });
    expect(await begin()).toEqual({});
    expect(running.size).toBe(2);
  });

  test('is started with its own data folder; its environment is handed on and its stop kept', async () => {
    const stops: (() => Promise<void>)[] = [];
    const environment = await start(
      `export default async (context: { dataDir: string; log(line: string): void }) => {
         context.log('started');
         return { environment: { WHERE: context.dataDir }, stop: async () => context.log('stopped') };
       };`,
      stops,
    );
    expect(environment).toEqual({ WHERE: join(root, 'data', 'a') });
    for (const stop of stops) await stop();
    expect(said).toBe('a: started\na: stopped\n');
  });

  test.each([
    ['export const startDev = 1;', 'it has no default export'],
    ['export default async () => ({});', 'startDev must return { environment?, stop() }'],
    ["export default async () => { throw new Error('no room'); };", 'no room'],
  ])('that is wrong is named: %s', async (source, message) => {
    await expect(start(source)).rejects.toThrow(/examples\/a\/dev\.ts cannot be started: /);
    await expect(start(source)).rejects.toThrow(message);
  });
});

describe('before anything slow', () => {
  test('a port that is taken is refused, with the next step', async () => {
    const taken = await fakeApi();
    const port = new URL(taken.url).port;
    let printed = '';
    const listening: Io = { ...io, err: (text) => void (printed += text) };
    const exit = await run(['dev', '--port', port, '--data', join(root, 'data')], listening);
    await taken.stop();
    expect([exit, said]).toEqual([1, '']);
    expect(printed).toContain(
      `port ${port} (the HTTP API) is taken: stop the other program, or choose another with --port`,
    );
  });
});

test.each([
  [false, /^Making \(about 5 s\) … (?:\d+ s … )+done\n$/],
  [true, /\rMaking \(about 5 s\) … \d+ s .*Making … done\n$/s],
])('what takes longer says that it goes on (on a terminal: %s)', async (isTTY, pattern) => {
  let progress: { end: (how: string) => void } | undefined;
  await new Promise<void>((again) => {
    const out = (text: string): void => {
      said += text;
      if (/\d s (… )?$/.test(text)) again();
    };
    progress = showProgress(ioOf({ ...io, isTTY, out }), 'Making', 5, 1);
  });
  progress?.end('done');
  expect(said).toMatch(pattern);
});

describe('the banner', () => {
  const systemAt = (apiUrl: string) => ({ apiUrl, workers: [], beside: [], triggers: ['nightly'] });
  const workflows = (...names: string[]) => ({
    status: 200,
    body: { items: names.map((workflow) => ({ workflow, plan: 'p', withinMs: 1, steps: [] })) },
  });
  const commandsIn = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('  curl '))
      .map((line) => line.trim());

  test('has three commands for the first workflow that has an example input', async () => {
    write({ 'examples/a/workflow.ts': '', 'examples/b/workflow.ts': '' });
    write({ 'examples/b/example-input.json': '{ "name": "O\'Hara" }' });
    const api = await fakeApi();
    api.answers.push(workflows('a', 'b'));
    const text = await banner(
      projectFolders(projectAt()),
      systemAt(api.url),
      openDevFolder(join(root, 'data'), false),
    );
    await api.stop();
    const [start, show, list] = commandsIn(text);
    expect(start).toMatch(/-d '\{"idempotencyKey":"try-\d{14}","input":\{"name":"O'\\''Hara"\}\}'$/);
    expect(start).toContain(`${api.url}/workflows/b/executions`);
    expect(show).toMatch(/\/executions\/[0-9a-f]{32}\?wait=20s'$/);
    expect(list).toBe(`curl -s '${api.url}/executions?workflow=b'`);
    expect(text).toContain(`Logs  ${join(root, 'data', 'cloud', 'logs')}`);
    expect(text).toContain('\nTriggers: nightly\n');
    expect(text).toContain(`\n${consoleLine(api.url)}\n`);
    expect(text).toContain(`npx steadfast list --url ${api.url}, npx steadfast --help`);
    expect(text).not.toContain('workers');
  });

  test('says where the console is, or that it is not built', () => {
    expect(consoleLine('http://here', root)).toMatch(/^Console: not built yet; npm run build:console /);
    write({ 'index.html': '' });
    expect(consoleLine('http://here', root)).toBe('Console: http://here/console/');
  });

  test('without an example input it guesses one and says so', async () => {
    write({ 'examples/a/workflow.ts': '' });
    const api = await fakeApi();
    const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const [a] = workflows('a').body.items;
    api.answers.push(workflows('a'), { status: 200, body: { ...a, forms: { input } } });
    const text = await banner(
      projectFolders(projectAt()),
      systemAt(api.url),
      openDevFolder(join(root, 'data'), false),
    );
    await api.stop();
    expect(commandsIn(text)[0]).toContain('"input":{"name":"example"}');
    expect(text).toContain('put a valid input into example-input.json');
  });

  test('names the agents that work in containers', async () => {
    write({ 'examples/a/workflow.ts': '' });
    const api = await fakeApi();
    api.answers.push(workflows('a'));
    const folder = openDevFolder(join(root, 'data'), false);
    const system = { ...systemAt(api.url), workers: ['encode', 'transcribe'] };
    const text = await banner(projectFolders(projectAt()), system, folder);
    await api.stop();
    expect(text).toContain('\nContainer workers: encode, transcribe\n');
  });

  test('names what else the stack holds', async () => {
    write({ 'examples/a/workflow.ts': '' });
    const api = await fakeApi();
    api.answers.push(workflows('a'));
    const beside = [{ path: 'Shop/Reports', apiUrl: `${api.url}/_apis/Reports` }];
    const folder = openDevFolder(join(root, 'data'), false);
    const text = await banner(projectFolders(projectAt()), { ...systemAt(api.url), beside }, folder);
    await api.stop();
    expect(text).toContain(`\nBeside it: Shop/Reports at ${api.url}/_apis/Reports\n`);
  });

  test('quotes for the shell', () => {
    expect(quoted(`it's "x"`)).toBe(`'it'\\''s "x"'`);
  });
});
