/**
 * `steadfast agents --needed`: finds the agents and lanes that a deployment would remove although plans of
 * open executions need them.
 *
 * Owns: the comparison, and the text. Does not own: the needed agents (`lib/api/agents.ts`), those in the
 * template (`dev/project.ts`).
 */

import { countText } from '../lib/api/answers.ts';
import type { LaneInUse, NeededAgents } from '../lib/api/agent-answers.ts';
import { EXIT } from './io.ts';
import { steadfastIn } from './dev/project.ts';

export interface Needed {
  /** The stack whose template was read. */
  readonly stack: string;
  /** Needed agents that are not in the template, with the number of open executions that may need them. */
  readonly takenAway: readonly { readonly name: string; readonly executions: number }[];
  /** Lanes of open executions that are not in the template. */
  readonly otherLanes?: readonly LaneInUse[];
  readonly examined: number;
  readonly atLeast?: true;
}

/**
 * @param assembly a synthesised app (`cdk.out`), or the assembly of a CDK stage in it
 * @throws CliError if there is no assembly, or if it has several stacks and none is named
 */
export function compared(
  { agents, lanes = [], examined, atLeast }: NeededAgents,
  assembly: string,
  stack: string | undefined,
): Needed {
  const chosen = steadfastIn(assembly, { stack });
  const otherLanes = lanes.filter(({ workflow, lane }) => !chosen.lanes.includes(`${workflow}/${lane}`));
  return {
    stack: chosen.stack,
    takenAway: agents.filter(({ name }) => !chosen.agents.includes(name)),
    ...(otherLanes.length === 0 ? {} : { otherLanes }),
    examined,
    ...(atLeast === undefined ? {} : { atLeast }),
  };
}

/** The exit code. An incomplete count is never a success, because the other executions may need more. */
export function exitOf({ takenAway, otherLanes, atLeast }: Omit<Needed, 'stack' | 'examined'>): number {
  if (takenAway.length > 0 || otherLanes !== undefined) return EXIT.failed;
  return atLeast === undefined ? EXIT.ok : EXIT.notKnown;
}

/**
 * The agents and lanes that the deployment would remove, each with the number of open executions that have it
 * in their plan.
 */
export function neededText({ stack, takenAway, otherLanes = [], examined, atLeast }: Needed): string {
  const of = `${countText(examined, atLeast)} open executions`;
  const rest = atLeast === undefined ? '' : NOT_KNOWN;
  const lanes = otherLanes.map(
    ({ workflow, lane, executions }) =>
      `'${stack}' has no lane '${lane}' for the workflow '${workflow}': ${executions} of ${of} are in it, and new ones run beside them\n`,
  );
  const beside = lanes.length === 0 ? '' : `${lanes.join('')}${BESIDE}`;
  if (takenAway.length === 0) return `'${stack}' has every agent that ${of} may need\n${rest}${beside}`;
  const lines = takenAway.map(
    ({ name, executions }) =>
      `'${stack}' would take away the agent '${name}': ${executions} of ${of} may need it\n`,
  );
  return `${lines.join('')}Deploy these agents until the executions have ended.\n${beside}`;
}

const BESIDE = 'Where both must not act at the same time, pause the workflow until they have ended.\n';
const NOT_KNOWN =
  'Not known: there are more, or a plan could not be read. Keep every agent until fewer executions are open\n';
