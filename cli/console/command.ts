/**
 * `steadfast console`: serves the console of a deployment, only on this machine, with the operator's
 * credentials.
 *
 * Owns: its options, the choice of the API, the text. Does not own: serving (`listener.ts`).
 */

import type { Command } from 'commander';
import { bearer } from '../../lib/api/authorization.ts';
import { createClient } from '../../lib/api/client.ts';
import { callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { examples, say } from '../commands.ts';
import { type Cli, CliError, DEFAULT_URL, EXIT, messageOf, portOf } from '../io.ts';
import { regionOf, signedFetch } from '../signed-fetch.ts';
import { apiUrlOf } from './api-url.ts';
import type { Upstream } from './calls.ts';
import type { GetMetricData } from './charts.ts';
import { CONSOLE_FOLDER } from './files.ts';
import { consoleListener, type ConsoleOptions } from './listener.ts';
import { CODE_WITHIN_MS, Login } from './login.ts';
import { awsLogs } from './logs.ts';

export const DEFAULT_PORT = 4520;

interface Flags {
  /** The stack; absent for a server with tokens. */
  readonly stack?: string;
  readonly readOnly?: true;
  readonly port: number;
}

interface Shared {
  readonly url: string;
  readonly region?: string;
  readonly token?: string;
}

export function addConsole(program: Command, cli: Cli): void {
  program
    .command('console')
    .description('open the console of a deployment, or of a server with tokens, on this machine')
    .option('--stack <name>', 'the name of the CloudFormation stack; without one --url is a server’s')
    .option('--read-only', 'allow no changes')
    .option('--port <port>', 'the port at 127.0.0.1; 0 takes any free port', portOf, DEFAULT_PORT)
    .addHelpText(
      'after',
      `
It prints an address that opens the console once, in one browser. A local system (npx steadfast dev) serves it at
${DEFAULT_URL}/console/ without this command.
${examples(
  'console --stack Steadfast-prod --region eu-central-1',
  'console --stack Steadfast-prod --read-only',
  'console --stack Shop --url https://orders.example.com --region eu-central-1',
  'console --url https://orders.example.com   # steadfast serve, its token in STEADFAST_TOKEN',
)}`,
    )
    .action(async (flags: Flags, command: Command) => {
      const { stack } = flags;
      const upstream =
        stack === undefined ? serverOf(command) : await upstreamOf(cli, command, checkedStack(stack));
      // Reads metrics in the deployment's region. If it is unknown, the page says so instead of showing
      // charts.
      const metrics = (): GetMetricData => (asked) =>
        callsOf(cli, command).json('monitoring', 'GetMetricData', asked);
      // Fails here, and not on a page, if the caller may not read.
      await createClient(upstream).health();
      const ofStack =
        stack === undefined ? {} : { logs: awsLogs(() => callsOf(cli, command), stack), metrics };
      const served = await serve(flags, upstream, ofStack);
      try {
        say(cli, command, { url: served.url, api: upstream.url, readOnly: flags.readOnly === true }, () =>
          text(served.url, upstream, flags),
        );
        await interrupted();
      } finally {
        await served.close();
      }
    });
}

/** @throws CliError `no-region`, `no-stack`, `no-api`, `several-apis`, `bad-url` */
async function upstreamOf(cli: Cli, command: Command, stack: string): Promise<Upstream> {
  const { url: given, region, token } = command.optsWithGlobals<Shared>();
  const url = given === DEFAULT_URL ? await apiUrlOf(callsOf(cli, command), stack) : plainUrl(given);
  if (token !== undefined) return { url, fetch: bearer(token)(fetch) };
  const signedFor = region ?? regionOf(url);
  if (signedFor !== undefined) return { url, fetch: signedFetch({ region: signedFor }) };
  throw new CliError(
    'no-region',
    `the AWS region of ${url} is not known: add --region <region>, or put a token into STEADFAST_TOKEN`,
  );
}

/** @throws CliError `bad-request`, `bad-url` */
function serverOf(command: Command): Upstream {
  const { url, token } = command.optsWithGlobals<Shared>();
  if (command.getOptionValueSourceWithGlobals('url') !== 'default' && token !== undefined)
    return { url: plainUrl(url), fetch: bearer(token)(fetch) };
  throw new CliError(
    'bad-request',
    `of a deployment add --stack <name>; of steadfast serve --url <server>, and put one of its tokens into STEADFAST_TOKEN. Without tokens the server has its console itself, at ${url}/console/`,
  );
}

/**
 * Checks the address of a server: it must be HTTPS or on this machine, because signatures and tokens are sent
 * to it.
 */
function plainUrl(given: string): string {
  const { url } = createClient({ url: given });
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || hostname === '127.0.0.1') return url;
  throw new CliError('bad-url', `credentials are sent only over https:, and ${url} is not https:`);
}

interface Served {
  /** The address that opens the console, only once. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

async function serve(
  { stack, readOnly, port }: Flags,
  upstream: Upstream,
  more: Pick<ConsoleOptions, 'logs' | 'metrics'>,
): Promise<Served> {
  const { listen } = await import('../../local/http/servers.ts');
  const listening = await listen(port, 'the console').catch((error: unknown) => {
    throw new CliError('port', messageOf(error), EXIT.failed);
  });
  const login = new Login();
  const settings = { deployment: stack ?? upstream.url, readOnly: readOnly === true, local: false };
  const served = { folder: CONSOLE_FOLDER, settings, upstream: () => upstream, login, ...more };
  listening.serve(consoleListener(served));
  return { url: `${listening.url}/console/?code=${login.code}`, close: () => listening.close() };
}

const text = (
  url: string,
  upstream: Upstream,
  { stack, readOnly }: Flags,
): string => `Console of ${stack === undefined ? upstream.url : `${stack}, API ${upstream.url}`}
Open it: ${url}
The address works once, within ${CODE_WITHIN_MS / 60_000} minutes. ${
  readOnly === true
    ? 'Nothing can be changed there.'
    : 'Actions there are done in your name; --read-only prevents them.'
}
Ctrl-C stops it.
`;

const interrupted = (): Promise<void> =>
  new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
