/**
 * Runs the whole system in this process, over one file, as `steadfast serve` is asked to.
 *
 * Owns: the choice of folders, the signals, the text. Does not own: options (`command.ts`), the server
 * (`serve/`).
 */

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { countText } from '../../lib/view/text.ts';
import { systemClock } from '../../local/clock.ts';
import { metricData } from '../../local/metrics/metric-data.ts';
import { MetricStore } from '../../local/metrics/metric-store.ts';
import { fetchOf } from '../../serve/http.ts';
import { loadProject } from '../../serve/project.ts';
import { type Server, startServer } from '../../serve/server.ts';
import type { ServerOptions } from '../../serve/server-options.ts';
import { eventSecret, eventTarget } from '../../serve/signed-event.ts';
import { outliveStrays } from '../../serve/stray-errors.ts';
import { Tokens } from '../../serve/tokens.ts';
import type { Served } from '../../serve/workflows.ts';
import type { Answer } from '../aws/calls.ts';
import type { GetMetricData } from '../console/charts.ts';
import { CONSOLE_FOLDER, consoleLine } from '../console/files.ts';
import { consoleListener } from '../console/listener.ts';
import { CliError, EXIT, type Io, messageOf } from '../io.ts';
import type { ServeFlags } from './command.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Serves until a signal asks it to stop, then ends the process.
 * @param parent the process that started this one, which must have been read early
 * @throws CliError
 */
export async function serve(folder: string, flags: ServeFlags, io: Io, parent: number): Promise<number> {
  const beganAt = performance.now();
  outliveOutput();
  try {
    if (flags.agents === 'workers') outliveStrays();
    const { eventsTo: url } = flags;
    const { STEADFAST_EVENTS_SECRET: secret } = io.env;
    const eventsTo = url && eventTarget(url, secret);
    const notificationSecret =
      secret === undefined || secret === '' ? undefined : eventSecret('a callbackUrl', secret);
    const served = await loadProject(resolve(folder));
    const file = resolve(flags.data);
    makeFolder(dirname(file), flags.data);
    const text = tokensText(flags, io);
    const tokens = Tokens.read(text ?? '');
    if (tokens.size === 0 && text !== undefined)
      throw new CliError(
        'serve',
        'the tokens are empty, so every caller would be let in: give at least one line "<name> <token>"',
        EXIT.failed,
      );
    const server = await startServer({
      ...options(flags, served),
      ...(tokens.size === 0 ? withConsole(io) : {}),
      ...(eventsTo ? { eventsTo } : {}),
      ...(notificationSecret ? { notificationSecret } : {}),
      allowsPrivateNotifications: flags.privateCallbackUrls === true,
      file,
      tokens,
    });
    io.out(banner(server, { file, served, ms: performance.now() - beganAt, isOpen: tokens.size === 0 }));
    void server.resumed.then(
      ({ executions, attempts, missing }) => {
        io.out(`${resumedText(executions, attempts)}\n`);
        for (const [agent, { size }] of missing)
          io.out(
            `MISSING: agent '${agent}', for which ${countText(size)} executions wait. Export its declaration from its workflow.ts, beside its successor's, with its file agents/${agent}.ts.\n`,
          );
      },
      () => undefined,
    );
    await stopAsked(io, parent);
    await server.stop();
    io.out('Stopped. The next start continues from the same file.\n');
    // Ends at once, because the next process treats attempts past their grace as dead and may repeat them.
    process.exit(EXIT.ok);
  } catch (error) {
    throw error instanceof CliError ? error : new CliError('serve', messageOf(error), EXIT.failed);
  }
}

/**
 * Lets the server continue if its output fails (the reader has ended, the disk is full); lines are then lost.
 */
function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners('error').on('error', () => undefined);
}

/** The line that a start prints about resumed work. */
export const resumedText = (executions: number, attempts: number): string =>
  `Resumed: ${countText(executions)} executions with work under way; ${countText(attempts)} attempts of the previous process were lost.`;

/** Creates the folder, readable only by this user because it will contain inputs and callback tokens. */
function makeFolder(folder: string, data: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(
      `the folder of ${data} cannot be made (${messageOf(error)}): name a file where this user may write, with --data <file>`,
      { cause: error },
    );
  }
}

function options(flags: ServeFlags, served: Served): Omit<ServerOptions, 'file'> {
  const { port, host, concurrency, agents, isolate, workerMemory, rate, retention, stopWithin } = flags;
  return {
    served,
    port,
    concurrency,
    agents,
    workerMemoryMb: workerMemory,
    stopWithinMs: stopWithin * 1_000,
    retentionMs: retention * DAY_MS,
    ...(host === undefined ? {} : { host }),
    ...(isolate === undefined ? {} : { isolate }),
    ...(rate === undefined ? {} : { rates: ratesOf(rate) }),
    isOwnProcess: true,
    onBroken: (error) => {
      // The file is unusable, so the process ends; the next start diagnoses the disk.
      process.stderr.write(`${error.message}\n`);
      process.exit(EXIT.failed);
    },
  };
}

/** @throws Error if a text is not `<agent>=<rate>` */
function ratesOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [agent = '', rate] = text.split('=');
      if (rate === undefined) throw new Error(`--rate ${text}: write it like charge-card=50/s`);
      return [agent, rate];
    }),
  );
}

/**
 * Adds the console. It calls the API in this process, and its charts show this process's metrics since its
 * start.
 */
function withConsole({ err }: Io): Pick<ServerOptions, 'beside' | 'onMetrics'> {
  const measured = new MetricStore({ clock: systemClock, onProblem: (text) => err(`${text}\n`) });
  const metrics: GetMetricData = async (asked) =>
    metricData(asked, (...wanted) => measured.periods(...wanted)) as Answer;
  return {
    onMetrics: measured.line,
    beside: (api) => ({
      '/console': consoleListener({
        folder: CONSOLE_FOLDER,
        settings: { deployment: 'steadfast serve', readOnly: false, local: true },
        upstream: () => ({ url: 'http://127.0.0.1', fetch: fetchOf(api) }),
        metrics: () => metrics,
      }),
    }),
  };
}

/** The tokens; undefined if neither option nor variable is given. An empty variable is an error. */
function tokensText({ tokens: file }: ServeFlags, { env }: Io): string | undefined {
  if (file === undefined) return env['STEADFAST_TOKENS'];
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError('serve', `the tokens in ${file} cannot be read: ${messageOf(error)}`, EXIT.failed);
  }
}

function banner(
  { url, workflows, webhooks }: Server,
  about: { readonly file: string; readonly served: Served; readonly ms: number; readonly isOpen: boolean },
): string {
  const { file, served, ms, isOpen } = about;
  const short = relative(process.cwd(), file);
  const others = served.triggers.filter(({ on }) => on !== 'schedule' && on !== 'webhook').length;
  const lines = [
    `Steadfast serves at ${url} (ready in ${Math.round(ms)} ms)`,
    ...(isOpen ? [consoleLine(url)] : []),
    `Workflows: ${workflows.join(', ')}`,
    ...(webhooks.length === 0 ? [] : [`Webhooks: ${webhooks.join(', ')}`]),
    ...(others === 0 ? [] : [`Not run here: ${others} triggers that need AWS (objects, events, queues)`]),
    `State: ${short.startsWith('..') ? file : short}`,
    ...served.warnings.map((warning) => `WARNING: ${warning}`),
  ];
  return `${lines.join('\n')}\n`;
}

const PARENT_EVERY_MS = 1_000;

/**
 * Resolves at the first signal; a second one ends the process. If npm started this process, the parent's end
 * counts as a signal, because npm does not pass SIGTERM on.
 */
const stopAsked = (io: Io, parent: number): Promise<void> =>
  new Promise((stop) => {
    let isAsked = false;
    if (io.env['npm_command'] !== undefined || io.env['npm_execpath'] !== undefined)
      setInterval(() => {
        if (process.ppid !== parent && !isAsked) onSignal();
      }, PARENT_EVERY_MS).unref();
    const onSignal = (): void => {
      if (isAsked) process.exit(EXIT.failed);
      isAsked = true;
      io.out('Stopping …\n');
      stop();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
