/**
 * Bundles every Lambda function, nearly always in two runs of esbuild.
 *
 * Owns: how TypeScript becomes a function's code. Does not own: which functions there are (`discover.ts`),
 * generated modules (`written-entries.ts`).
 *
 * Why not NodejsFunction: it starts one esbuild process per function, each of which parses the AWS SDK again.
 * Measured on two cores with six functions: 2.0 to 2.4 s, against 0.7 to 1.3 s for the one run here; every
 * synth pays it. Its users' expectations still hold: ES modules, minified, source maps, assets addressed by
 * content, no Docker, and no bundling if the CDK says that a stack needs no code (`aws:cdk:bundling-stacks`).
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildFailure, type BuildOptions, buildSync, type Message, type Metafile } from 'esbuild';
import { FORMS_FILE, OPENAPI_FILE } from '../aws/names.ts';
import type { Beside } from './brought-along.ts';
import { BULK_ENTRY } from './bulk-agent.ts';
import type { Discovery } from './discovery.ts';
import { DiscoveryError, hasWebhook } from './discovery.ts';
import { COMPUTED } from './left-behind.ts';
import { PACKAGE_ROOT, programFile } from '../project/package-files.ts';
import {
  handlerFile,
  lambda,
  scratchOf,
  writeAgentEntry,
  writeHostEntry,
  writeWorkflowsModule,
} from './written-entries.ts';

export const EXTENSION = '.mjs';

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** How a program is built, wherever it runs. */
export const PROGRAM = {
  write: false,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  minify: true,
  mainFields: ['module', 'main'],
  outExtension: { '.js': EXTENSION },
  banner: { js: BANNER },
  logLevel: 'silent',
} as const satisfies BuildOptions;

const ALIAS = {
  // One copy of the library, even if a workflow folder is outside the project.
  steadfast: programFile('lib/index'),
  'steadfast/client': programFile('lib/client'),
  '@aws-sdk/credential-provider-node': programFile('lib/infra/lambda-credentials'),
  '@aws-sdk/endpoint-cache': programFile('lib/aws/endpoint-cache'),
};

/** One function's code, before it is on disk. */
export interface Bundle {
  /** The content of each file in the asset, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** A hash of the content only: the same sources give the same hash in any folder on any machine. */
  readonly hash: string;
  /** The size of the code without its source map. */
  readonly bytes: number;
  /** esbuild's metafile: inputs, sizes, exports. */
  readonly metafile: Metafile;
  /** Calls in the code whose module is computed at run time. */
  readonly computed: readonly Message[];
  /** Files beside the code: the file on disk for each path in the asset, relative to the code. */
  readonly beside?: Beside;
}

export interface BundleProps {
  /** The project's folder. */
  readonly root: string;
  /** The TypeScript file that exports `handler`, by the function's name. */
  readonly entries: Readonly<Record<string, string>>;
  /**
   * By a function's name, which ends with the agent's: the agent's file. It is bundled into
   * `lambdas/agent.ts` in place of '@steadfast/agent'.
   * @default - none
   */
  readonly agents?: Readonly<Record<string, string>>;
  /** Agents whose functions are bundled as `lambdas/isolated-agent.ts`. @default - none */
  readonly isolated?: readonly string[];
  /**
   * Files that replace modules by name, for names that no package has.
   * @default - only those that every function needs
   */
  readonly alias?: Readonly<Record<string, string>>;
  /**
   * Packages that are put beside the code instead of into it.
   * @default - none
   */
  readonly external?: readonly string[];
  /**
   * For a debugger: keeps names, and adds a source map that contains the sources and their paths.
   * @default false
   */
  readonly readable?: boolean;
  /**
   * Puts a module that an entry imports at run time into a file of its own, so that it can fail by itself.
   * @default false
   */
  readonly split?: boolean;
}

/**
 * The functions of a deployment: one for each file in `lambdas/`; for `lambdas/agent.ts`, one for each agent.
 * @param packages the packages beside the code, by agent
 * @param inspected the agent to which a debugger attaches
 */
export function bundleDeployment(
  found: Discovery,
  packages: Packages = {},
  inspected?: string,
  hosts: Hosts = new Map(),
): ReadonlyMap<string, Bundle> {
  const hosted = new Set([...hosts.values()].flat());
  const own = found.agents.filter(({ name, runsIn }) => runsIn === undefined && !hosted.has(name));
  const agents = own.map((agent) => ({ ...agent, file: handlerFile(found, agent) }));
  const isolated = agents.flatMap(({ name, isolate }) => (isolate === undefined ? [] : [agentEntry(name)]));
  const roles = bundleFunctions({
    root: found.root,
    entries: {
      scheduler: lambda('scheduler'),
      supervisor: lambda('supervisor'),
      audit: lambda('audit'),
      starter: lambda('starter'),
      notifications: lambda('notifications'),
      [BULK_ENTRY]: lambda('bulk'),
      ...(hasWebhook(found.triggers) ? { webhooks: lambda('webhooks') } : {}),
    },
    alias: {
      steadfast: programFile('lib/without-handlers'),
      '@steadfast/workflows': writeWorkflowsModule(found),
      '@smithy/core/event-streams': programFile('lib/aws/no-event-streams'),
    },
  });
  const performers = bundleAgents(found.root, agents, packages, { isolated });
  const whole = new Map(
    [...roles, ...performers].map(([name, bundle]) => [
      name,
      name === 'scheduler'
        ? withFile(withFile(bundle, OPENAPI_FILE, openapi()), FORMS_FILE, formsIn(found))
        : bundle,
    ]),
  );
  const one = agents.filter(({ name }) => name === inspected);
  return new Map([
    ...whole,
    ...bundleAgents(found.root, one, packages, { isolated, readable: true }),
    ...bundleHosts(found, hosts, packages, inspected),
  ]);
}

/** The names of the agents of each host. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** Bundles hosts, each with the code and the packages of all its agents. */
function bundleHosts(
  found: Discovery,
  hosts: Hosts,
  packages: Packages,
  inspected: string | undefined,
): ReadonlyMap<string, Bundle> {
  const { root, agents } = found;
  return new Map(
    [...hosts].flatMap(([host, names]) => {
      const members = agents.filter(({ name }) => names.includes(name));
      const files = members.map((agent) => ({ name: agent.name, file: handlerFile(found, agent) }));
      return [
        ...bundleEntries({
          root,
          entries: { [hostEntry(host)]: writeHostEntry(root, files) },
          external: [...new Set(names.flatMap((name) => packages[name] ?? []))],
          readable: inspected !== undefined && names.includes(inspected),
          // Otherwise a package of any agent would be imported before the host has begun.
          split: true,
        }),
      ];
    }),
  );
}

export type Packages = Readonly<Record<string, readonly string[] | undefined>>;

/** Bundles agents in as few runs as possible: one for all agents with the same packages. */
export function bundleAgents(
  root: string,
  agents: readonly { readonly name: string; readonly file: string }[],
  packages: Packages,
  props: Pick<BundleProps, 'isolated' | 'readable' | 'alias'>,
): ReadonlyMap<string, Bundle> {
  const alike = new Map<string, typeof agents>();
  for (const agent of agents) {
    const key = JSON.stringify(packages[agent.name] ?? []);
    alike.set(key, [...(alike.get(key) ?? []), agent]);
  }
  return new Map(
    [...alike].flatMap(([key, some]) => [
      ...bundleFunctions({
        ...props,
        root,
        entries: {},
        agents: Object.fromEntries(some.map(({ name, file }) => [agentEntry(name), file])),
        external: JSON.parse(key) as string[],
      }),
    ]),
  );
}

const formsIn = ({ workflows }: Discovery): string =>
  JSON.stringify(Object.fromEntries(workflows.map(({ name, forms }) => [name, forms ?? {}])));

/** The OpenAPI document without spaces. */
const openapi = (): string =>
  JSON.stringify(JSON.parse(readFileSync(join(PACKAGE_ROOT, 'docs', OPENAPI_FILE), 'utf8')));

/** The key of a host's function. */
export const hostEntry = (host: string): string => `hosts/${host}`;

/** The key of an agent's function. No agent can have a role's key. */
export const agentEntry = (name: string): string => `agents/${name}`;

/**
 * Bundles all entries at once.
 * @throws DiscoveryError when an entry does not export `handler`; esbuild's own
 * error when the code does not build
 */
export function bundleFunctions({
  agents,
  isolated = [],
  ...props
}: BundleProps): ReadonlyMap<string, Bundle> {
  if (agents === undefined) return bundleEntries(props);
  const behind = Object.entries(agents).map(([name, file]) => [
    name,
    writeAgentEntry(props.root, basename(name), file, isolated.includes(name) ? 'isolated-agent' : 'agent'),
  ]);
  try {
    return bundleEntries({ ...props, entries: { ...props.entries, ...Object.fromEntries(behind) } });
  } catch (error) {
    // A missing file is then reported for the agent's file that needs it, not for the entry that imports it.
    bundleEntries({ ...props, entries: agents });
    throw error;
  }
}

function bundleEntries(props: BundleProps): ReadonlyMap<string, Bundle> {
  const names = Object.keys(props.entries);
  // Nothing is written there; the folder only makes the relative paths in source maps independent of the
  // assets' place.
  const outdir = join(scratchOf(props.root), 'functions');
  const built = building(() =>
    buildSync({
      absWorkingDir: props.root,
      entryPoints: Object.fromEntries(names.map((name) => [`${name}/index`, props.entries[name] ?? ''])),
      outdir,
      ...PROGRAM,
      // Stack traces need only positions; with the sources the map would be several times as large as the
      // code.
      sourcemap: 'linked',
      sourcesContent: false,
      ...(props.readable === true ? readableAt(join(outdir, names[0] ?? '')) : {}),
      ...(props.split === true ? { splitting: true, chunkNames: `${names[0]}/[name]-[hash]` } : {}),
      metafile: true,
      logOverride: COMPUTED,
      external: [...(props.external ?? [])],
      alias: aliases(props.alias),
    }),
  );
  return new Map(
    names.map((name) => {
      const inFolder = built.outputFiles.filter((file) => dirname(file.path) === join(outdir, name));
      const files = new Map(inFolder.map((file) => [basename(file.path), file.contents]));
      const metafile = metafileOf(built.metafile, name);
      refuseWithoutHandler(metafile, props.root, props.entries[name] ?? '');
      const code = [...files].filter(([path]) => path.endsWith(EXTENSION));
      const bytes = code.reduce((sum, [, { byteLength }]) => sum + byteLength, 0);
      const computed = built.warnings.filter(({ location }) => (location?.file ?? '') in metafile.inputs);
      return [name, { files, hash: hashOf(files), bytes, metafile, computed }];
    }),
  );
}

/** @throws DiscoveryError for code that cannot be bundled; esbuild's own error for other failures */
function building<Built>(build: () => Built): Built {
  try {
    return build();
  } catch (error) {
    const { errors = [] } = error as Partial<BuildFailure>;
    const problems = errors.flatMap(({ text, location }) => {
      const held = /^No loader is configured for "\.\w+" files: (.+)$/.exec(text)?.[1];
      return held === undefined ? [] : [unloadable(held, location)];
    });
    if (problems.length === 0) throw error;
    throw new DiscoveryError([...new Set(problems)].join('\n'));
  }
}

function unloadable(file: string, location: Message['location']): string {
  const from = location === null ? '' : `${location.file}:${location.line} `;
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  if (name !== undefined)
    return `${from}imports ${file}, which a bundle cannot hold: set agentSettings: { '<agent>': { nodeModules: ['${name}'] } }`;
  return `${from}imports ${file}, which a bundle cannot hold: set agentSettings: { '<agent>': { files: ['./${basename(file)}'] } }, and load it by new URL('./${basename(file)}', import.meta.url)`;
}

/**
 * Options that correct the sources in a map: they are relative to where it would be written, but it will be
 * elsewhere.
 */
const readableAt = (folder: string) =>
  ({
    minify: false,
    sourcesContent: true,
    sourceRoot: `${pathToFileURL(folder).href}/`,
  }) as const;

/**
 * The aliases of a run. A module aliased to itself is left out, because esbuild would look for it in the
 * user's project, and it is a package of ours.
 */
const aliases = (own: BundleProps['alias']): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...ALIAS, ...own }).filter(([name, to]) => name !== to));

/** The bundle with another file beside the code. */
export function withFile(bundle: Bundle, name: string, text: string): Bundle {
  const files = new Map([...bundle.files, [name, Buffer.from(text)]]);
  return { ...bundle, files, hash: hashOf(files) };
}

/**
 * The part of a metafile that belongs to one function: its entry first, then what that imports at run time.
 */
function metafileOf(whole: Metafile, name: string): Metafile {
  const entry = `${name}/index${EXTENSION}`;
  const outputs = Object.entries(whole.outputs)
    .filter(([path]) => dirname(path).endsWith(`/${name}`) && path.endsWith(EXTENSION))
    .sort(([one], [other]) => Number(other.endsWith(entry)) - Number(one.endsWith(entry)));
  const paths = new Set(outputs.flatMap(([, { inputs }]) => Object.keys(inputs)));
  const inputs = Object.fromEntries([...paths].map((path) => [path, whole.inputs[path]]));
  return { inputs: inputs as Metafile['inputs'], outputs: Object.fromEntries(outputs) };
}

function refuseWithoutHandler(metafile: Metafile, root: string, entry: string): void {
  const [output] = Object.values(metafile.outputs);
  if (output?.exports.includes('handler') === true) return;
  const got = output?.exports.join(', ') || 'nothing';
  throw new DiscoveryError(
    `${relative(root, entry)} does not export 'handler' (it exports ${got}); write: export const handler = ….handler({ … })`,
  );
}

export function hashOf(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name}\n${content.byteLength}\n`).update(content);
  return hash.digest('hex');
}
