/**
 * `steadfast dev --inspect <agent>` with a debugger: it finds the author's file in the process of the agent's
 * host, and stops at a line in it. Real processes and real time.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '../../lib/api/client.ts';
import { projectWithOneExample } from './one-example.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const AGENT_FILE = join(ROOT, 'examples/order-fulfilment/agents/charge-card.ts');
const LINE = 'const charge = await callWorld(';
const INPUT = join(ROOT, 'examples/order-fulfilment/example-input.json');

let project: string;
let data: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'steadfast-e2e-inspect-'));
  project = projectWithOneExample();
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const folder of [data, project]) rmSync(folder, { recursive: true, force: true });
});

/** A program whose output a test waits for. */
interface Talk {
  readonly say: (line: string) => void;
  /** Waits for a match in the unread output. */
  readonly heard: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Its exit code, and all its output. */
  readonly end: Promise<readonly [code: number | null, text: string]>;
  readonly interrupt: () => void;
}

function talk(...args: readonly string[]): Talk {
  const child = spawn(process.execPath, args, { cwd: project, env: { ...process.env, NODE_OPTIONS: '' } });
  running.push(child);
  let text = '';
  let from = 0;
  let more = (): void => {};
  const hear = (chunk: Buffer): void => {
    text += chunk.toString('utf8');
    more();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const end = once(child, 'close').then(([code]) => [code as number | null, text] as const);
  const heard = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(text.slice(from));
      if (found !== null) {
        from += found.index + found[0].length;
        return found;
      }
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${text}`);
      const said = new Promise<void>((heardMore) => {
        more = heardMore;
      });
      await Promise.race([said, end]);
    }
  };
  return {
    heard,
    end,
    say: (line) => child.stdin.write(`${line}\n`),
    interrupt: () => child.kill('SIGINT'),
  };
}

const dev = (agent: string): Talk =>
  talk(
    '--import',
    'tsx',
    join(ROOT, 'bin/steadfast.ts'),
    'dev',
    '--port',
    '0',
    '--data',
    data,
    '--inspect',
    agent,
  );

interface Place {
  /** The name of the file of the running code. */
  readonly script: string;
  /** Counts from 1. */
  readonly line: number;
}

/** Maps a line of the author's file to the running code, as a debugger does. */
function placeInCode(): Place {
  const bundles = join(data, 'cdk.out', 'bundles');
  const maps = readdirSync(bundles, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.mjs.map'),
  );
  const places = maps.flatMap((name) => placeIn(join(bundles, name.slice(0, -'.map'.length))));
  expect(places).toHaveLength(1);
  return places[0]!;
}

function placeIn(bundle: string): Place[] {
  const payload = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as Partial<SourceMapPayload>;
  // Only the inspected code has its sources.
  const { sources = [], sourcesContent, sourceRoot } = payload;
  if (sourcesContent === undefined) return [];
  const index = sources.findIndex(
    (source) => new URL(source, sourceRoot).href === pathToFileURL(AGENT_FILE).href,
  );
  if (index < 0) return [];
  expect(sourcesContent[index]).toBe(readFileSync(AGENT_FILE, 'utf8'));
  const wanted = sourcesContent[index]?.split('\n').findIndex((line) => line.includes(LINE));
  const map = new SourceMap({ ...payload, sourceRoot: '' } as SourceMapPayload);
  const code = readFileSync(bundle, 'utf8').split('\n');
  const found = code.findIndex((text, at) => {
    const entry = map.findEntry(at, text.search(/\S/));
    return (
      'originalSource' in entry && entry.originalSource === sources[index] && entry.originalLine === wanted
    );
  });
  return [{ script: basename(bundle), line: found + 1 }];
}

test('a debugger finds the author’s file in the agent’s process, stops at a line, and reads what is there', async () => {
  const system = dev('charge-card');
  const [, url = ''] = await system.heard(/Steadfast runs at (\S+)/);
  const [, port = ''] = await system.heard(/A debugger reaches charge-card at 127\.0\.0\.1:(\d+)/);
  const { script, line } = placeInCode();
  const debug = talk('inspect', `127.0.0.1:${port}`);
  await debug.heard(/debug> /);
  debug.say(`setBreakpoint('${script}', ${line})`);
  // A host loads an agent's code at its first message.
  await debug.heard(/was not loaded yet/);

  const client = createClient({ url });
  const input = JSON.parse(readFileSync(INPUT, 'utf8')) as { readonly orderId: string };
  const { executionId } = await client.start('order-fulfilment', { input });
  await debug.heard(new RegExp(`break in .*${script.replaceAll('.', '\\.')}`));
  debug.say("exec('input.orderId')");
  await debug.heard(new RegExp(`'${input.orderId}'`));
  debug.say('cont');
  expect((await client.waitForEnd(executionId)).status).toBe('succeeded');
  system.interrupt();
  expect(await system.end).toEqual([0, expect.stringContaining('Stopped.')]);
});
