/**
 * The code of a deployment's functions and images: one bundling of everything that was found, or none.
 *
 * Owns: which bundle belongs to which function, the files beside it, and where assets are written. Does not
 * own: the bundling (`bundle.ts`, `bundle-container.ts`).
 */

import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { CpuArchitecture } from 'aws-cdk-lib/aws-ecs';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { FileSystem, Stack, Stage, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BUNDLES, TRIGGER_FILE } from '../aws/names.ts';
import type { AgentSettings } from './agent-settings.ts';
import { broughtAlong, foreignNative, type Owner, packageFiles } from './brought-along.ts';
import { BULK_ENTRY } from './bulk-agent.ts';
import { codeOf, withBeside } from './asset.ts';
import { agentEntry, type Bundle, bundleDeployment, hostEntry, type Hosts, withFile } from './bundle.ts';
import { bundleContainers } from './bundle-container.ts';
import { type Discovery, DiscoveryError, type FoundAgent } from './discovery.ts';
import { leftBehind } from './left-behind.ts';

/** Context: the agent to which a debugger attaches; set by `steadfast dev --inspect`. */
const INSPECTED = 'steadfast:inspected';
type Bundles = ReturnType<typeof bundleDeployment>;
/**
 * Bundles of workflows, made once for all stacks: stages of an app usually differ in settings, not in code.
 */
const bundled = new WeakMap<Discovery, Map<string, Bundles>>();

export interface CodeSource {
  /** @param trigger for a starter: the folder of its asset, and the file beside the code */
  readonly code: (name: string, trigger?: { readonly asset: string; readonly file: string }) => Code;
  readonly imageFolder: (agentName: string) => string | undefined;
  /** A hash of all code that was asked for, the same for the same sources; settings do not change it. */
  readonly release: () => string;
}

/**
 * Bundles, unless the CDK says that this stack needs no code (as in `cdk list`, and in tests of the
 * template).
 * @param deploymentName the folder of its assets in the assembly, which several deployments may share
 */
export function codeSource(
  scope: Construct,
  found: Discovery,
  deploymentName: string,
  settings: Readonly<Record<string, AgentSettings>> = {},
  hosts: Hosts = new Map(),
): CodeSource {
  if (!Stack.of(scope).bundlingRequired) {
    return {
      code: () => Code.fromInline('exports.handler = async () => {};'),
      imageFolder: () => undefined,
      release: () => releaseOf([]),
    };
  }
  const bundles = bundlesOf(scope, found, settings, hosts);
  const ours = new Set(Object.keys(bundles.get(BULK_ENTRY)?.metafile.inputs ?? {}));
  const folder = join(Stage.of(scope)?.outdir ?? found.root, BUNDLES, deploymentName);
  const equip = (bundle: Bundle, ...agents: readonly FoundAgent[]): Bundle => {
    const owners = agents.map((agent) => ({ root: found.root, ...agent }));
    const { equipped, warnings } = equipAgents(owners, bundle, settings, ours);
    for (const message of warnings) Validations.of(scope).addWarning('steadfast:leftBehind', message);
    return equipped;
  };
  const images = bundleContainers(found, folder, packagesIn(settings), equip);
  const deployed = new Map<string, string>();
  const placed = (name: string, bundle: Bundle): Code => {
    deployed.set(name, bundle.hash);
    return codeOf(name, bundle, folder);
  };
  const code: CodeSource['code'] = (name, trigger) => {
    const bundle = bundles.get(name);
    if (bundle === undefined)
      throw new Error(`no bundle for '${name}'; there are ${[...bundles.keys()].join(', ')}`);
    const host = [...hosts].find(([each]) => hostEntry(each) === name)?.[1] ?? [];
    const agents = found.agents.filter((each) => agentEntry(each.name) === name || host.includes(each.name));
    if (agents.length > 0) return placed(name, equip(bundle, ...agents));
    if (trigger === undefined) return placed(name, bundle);
    return placed(trigger.asset, withFile(bundle, TRIGGER_FILE, trigger.file));
  };
  const release = (): string =>
    releaseOf([...deployed, ...[...images].map(([name, path]) => [name, FileSystem.fingerprint(path)])]);
  return { code, imageFolder: (name) => images.get(name), release };
}

/** Hashes the parts sorted, because constructs may be added in another order. */
const releaseOf = (parts: readonly (readonly string[])[]): string =>
  createHash('sha256')
    .update(JSON.stringify(parts.map(String).sort()))
    .digest('hex')
    .slice(0, 16);

/**
 * Adds the files that the settings of a function's agents name beside its code.
 * @param ours the files in every agent's bundle
 * @throws DiscoveryError for a file or package that the code looks for and cannot find, and if it cannot have
 * the same place relative to the files of each agent
 */
export function equipAgents(
  agents: readonly Owner[],
  bundle: Bundle,
  settings: Readonly<Record<string, AgentSettings>>,
  ours: ReadonlySet<string> = new Set(),
): { readonly equipped: Bundle; readonly warnings: readonly string[] } {
  const withFiles = agents.filter(({ name }) => (settings[name]?.files ?? []).length > 0);
  const [owner = agents[0], ...others] = withFiles;
  if (owner === undefined) return { equipped: bundle, warnings: [] };
  const other = others.find(({ file }) => dirname(file) !== dirname(owner.file));
  if (other !== undefined)
    throw new DiscoveryError(
      `agents '${owner.name}' and '${other.name}' share a function, name files, and lie in two folders, and one code cannot lie beside both: give one of them another host`,
    );
  const beside = new Map(agents.flatMap((agent) => [...broughtAlong(agent, settings[agent.name] ?? {})]));
  const { problems, warnings } = leftBehind(owner, bundle, beside, ours);
  if (problems.length > 0) throw new DiscoveryError(problems.join('\n'));
  return {
    equipped: withBeside(bundle, owner, beside),
    warnings: [...warnings, ...agents.flatMap((agent) => foreign(agent, settings[agent.name] ?? {}))],
  };
}

function bundlesOf(
  scope: Construct,
  found: Discovery,
  settings: Readonly<Record<string, AgentSettings>>,
  hosts: Hosts,
): Bundles {
  const inspected: unknown = scope.node.tryGetContext(INSPECTED);
  const packages = packagesIn(settings);
  const key = JSON.stringify([packages, [...hosts]]);
  const known = bundled.get(found) ?? new Map<string, Bundles>();
  bundled.set(found, known);
  const bundles =
    known.get(key) ??
    bundleDeployment(found, packages, typeof inspected === 'string' ? inspected : undefined, hosts);
  known.set(key, bundles);
  return bundles;
}

export const packagesIn = (
  settings: Readonly<Record<string, AgentSettings>>,
): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, { nodeModules = [] }]) =>
      nodeModules.length === 0 ? [] : [[name, nodeModules]],
    ),
  );

/** Native packages that are installed only for other machines than the one on which the agent runs. */
function foreign(owner: Owner, settings: AgentSettings): string[] {
  const machine = settings.container?.cpuArchitecture === CpuArchitecture.X86_64 ? 'x64' : 'arm64';
  return (settings.nodeModules ?? []).flatMap((name) => {
    const file = foreignNative(packageFiles(owner, [name]), machine);
    return file === undefined
      ? []
      : [
          `agent '${owner.name}': ${name} is native, and none of it is for Linux on ${machine}, where the agent runs (${file}). Here it works; before a deployment: npm install --os=linux --cpu=${machine} --libc=glibc`,
        ];
  });
}
