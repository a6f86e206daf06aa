/**
 * `steadfast agents --needed`: which agents a deployment would take away although open executions have them
 * in their plans.
 *
 * Owns: the comparison, what is printed. Does not own: what is needed (`lib/api/agents.ts`), what would be
 * deployed (`../dev/project.ts`).
 */

import type { Agents } from '../../lib/api/deployment-answers.ts';
import { CliError, EXIT } from '../io.ts';
import { steadfastIn } from '../dev/project.ts';

export interface Needed {
  /** The stack whose template was read. */
  readonly stack: string;
  /** What the template does not have, with the open executions that may need it. */
  readonly takenAway: readonly { readonly name: string; readonly executions: number }[];
  readonly examined: number;
  readonly atLeast?: true;
}

/**
 * @param assembly a synthesised app (`cdk.out`), or that of a CDK stage in it
 * @throws CliError where there is none, or where it is not clear which stack of it
 */
export function compared({ needed }: Agents, assembly: string, stack: string | undefined): Needed {
  if (needed === undefined)
    throw new CliError(
      'old-api',
      'the API does not say which agents are needed: it is of an older version of steadfast',
      EXIT.failed,
    );
  const chosen = steadfastIn(assembly, { stack });
  const { agents, examined, atLeast } = needed;
  return {
    stack: chosen.stack,
    takenAway: agents.filter(({ name }) => !chosen.agents.includes(name)),
    examined,
    ...(atLeast === undefined ? {} : { atLeast }),
  };
}

/** A count of some of the executions says nothing of the agents of the others. */
export function exitOf({ takenAway, atLeast }: Pick<Needed, 'takenAway' | 'atLeast'>): number {
  if (takenAway.length > 0) return EXIT.failed;
  return atLeast === undefined ? EXIT.ok : EXIT.notKnown;
}

/** Prints what is taken away, each agent with how many open executions have it in their plan. */
export function neededText({ stack, takenAway, examined, atLeast }: Needed): string {
  const of = `${atLeast === undefined ? '' : 'at least '}${examined} open executions`;
  const rest = atLeast === undefined ? '' : NOT_KNOWN;
  if (takenAway.length === 0) return `'${stack}' has every agent that ${of} may need\n${rest}`;
  const lines = takenAway.map(
    ({ name, executions }) =>
      `'${stack}' would take away the agent '${name}': ${executions} of ${of} may need it\n`,
  );
  return `${lines.join('')}Deploy these agents until the executions have ended.\n`;
}

const NOT_KNOWN =
  'Not known: there are more, or a plan could not be read. Keep every agent until fewer executions are open\n';
