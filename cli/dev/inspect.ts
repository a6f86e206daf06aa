/**
 * Attaches a debugger to one agent: `steadfast dev --inspect <agent>`.
 *
 * Owns: choosing the function and its port. Does not own: the process (`local/lambda/`), its readable code
 * (`code-source.ts`).
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Inspect } from '../../local/cloud.ts';
import { BUNDLES } from '../../lib/aws/names.ts';
import { CliError, EXIT } from '../io.ts';
import type { FoundSteadfast } from './project.ts';

export interface Inspected {
  readonly agent: string;
  /** A port of 127.0.0.1, the same after each restart. */
  readonly port: number;
}

/** The port that debuggers try first. */
const USUAL_PORT = 9_229;

/** Chooses the usual port if it is free, otherwise any free one. */
export async function inspected(agent: string): Promise<Inspected> {
  const { listen } = await import('../../local/http/servers.ts');
  const listening = await listen(USUAL_PORT, 'of a debugger').catch(() => listen(0, 'of a debugger'));
  await listening.close();
  return { agent, port: listening.port };
}

/** Options of the synthesis that preserve names and sources in the agent's code. */
export const inspectContext = (of: Inspected | undefined): Readonly<Record<string, unknown>> =>
  of === undefined ? {} : { 'steadfast:inspected': of.agent };

/**
 * Options of the local cloud: the agent's function in the running Steadfast.
 * @throws CliError `no-agent`; its message names the agents that exist
 */
export async function inspectIn(
  found: FoundSteadfast,
  into: Inspected | undefined,
): Promise<{ readonly inspect?: Inspect }> {
  if (into === undefined) return {};
  const { agent, port } = into;
  const functions = await agentFunctions(found);
  const logicalId = functions.get(agent);
  if (logicalId !== undefined) return { inspect: { logicalId, port } };
  const inContainers = containersIn(found.assembly).includes(agent);
  const problem = inContainers
    ? `agent '${agent}' runs in a container, and a debugger can only reach functions: leave out its runsIn while you debug`
    : `no agent is named '${agent}'`;
  throw new CliError(
    'no-agent',
    `--inspect: ${problem}; there are ${[...functions.keys()].sort().join(', ')}`,
    EXIT.usage,
  );
}

interface Resource {
  readonly Type?: string;
  readonly Properties?: {
    readonly FunctionName?: { readonly Ref?: string };
    readonly EventSourceArn?: { readonly 'Fn::GetAtt'?: readonly [id: string, what: string] };
  };
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** The logical id of the function that reads each agent's queue. Several agents may share one. */
async function agentFunctions({
  assembly,
  stack,
  path,
}: FoundSteadfast): Promise<ReadonlyMap<string, string>> {
  const { readAssembly } = await import('../../local/template/assembly.ts');
  const { Resources = {} } = readAssembly(assembly, stack).template as {
    Resources?: Readonly<Record<string, Resource>>;
  };
  const found = Object.values(Resources).flatMap(
    ({ Type, Properties: { FunctionName, EventSourceArn } = {} }) => {
      if (Type !== 'AWS::Lambda::EventSourceMapping') return [];
      const { Metadata } = Resources[EventSourceArn?.['Fn::GetAtt']?.[0] ?? ''] ?? {};
      const [own, rest] = String(Metadata?.['aws:cdk:path']).split('/Agents/');
      const [, agent] = /^([^/]+)\/Queue\//.exec(rest ?? '') ?? [];
      const logicalId = FunctionName?.Ref;
      return own !== path || agent === undefined || logicalId === undefined
        ? []
        : [[agent, logicalId] as const];
    },
  );
  return new Map(found);
}

function containersIn(assembly: string): string[] {
  const bundles = join(assembly, BUNDLES);
  const deployments = existsSync(bundles) ? readdirSync(bundles) : [];
  return deployments
    .map((deployment) => join(bundles, deployment, 'containers'))
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []));
}
