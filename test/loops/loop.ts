/**
 * Types and agents for published Step Functions loops that are rewritten as workflows and run in memory.
 * Owns: the type of a loop, agents that record each call. Does not own: the loops.
 */

import { agent, type DeclaredAgent, type Workflow } from 'steadfast';
import { type TestAgent, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

/** A cycle of states in a file of `aws-samples/<repository>` on GitHub; copies count once. */
export interface Loop {
  readonly from: string;
  readonly states: readonly string[];
  /** Runs it to its end. Absent if it cannot be written as a workflow. */
  readonly play?: () => Promise<Played>;
  /** The agents' calls, in order. */
  readonly calls?: string;
}

interface Played {
  readonly status: string;
  readonly calls: string;
}

export const Text = z.string();
export const Empty = z.object({});

const OPTIONS = { effect: 'idempotent', undo: 'none' } as const;
type Declared<I, O> = DeclaredAgent<{
  readonly input: z.ZodMiniType<I>;
  readonly output: z.ZodMiniType<O>;
  readonly effect: 'idempotent';
  readonly undo: 'none';
}>;

/** The services of one loop: each agent's answers. */
export class Services {
  readonly agents: TestAgent[] = [];
  readonly calls: string[] = [];

  agent<I, O>(
    name: string,
    input: z.ZodMiniType<I>,
    output: z.ZodMiniType<O>,
    answer: (input: I) => O,
  ): Declared<I, O> {
    const declared: Declared<I, O> = agent(name, { input, output, ...OPTIONS });
    const execute = async (_: unknown, given: I): Promise<O> => {
      this.calls.push(name);
      return answer(given);
    };
    this.agents.push(declared.handler({ execute }));
    return declared;
  }

  /** @param answers the person's answers, an hour apart */
  async play<I>(workflow: Workflow<I>, input: NoInfer<I>, answers: readonly object[] = []): Promise<Played> {
    const trial = testWorkflow(workflow, { agents: this.agents });
    const run = await trial.start(input);
    for (const answer of answers) {
      await trial.skip('1h');
      for (const asked of trial.runs()) {
        const open = Object.entries((await asked.state()).steps).find(
          ([, step]) => step.waitsUntil !== undefined,
        );
        if (open !== undefined) await asked.complete(open[0], answer);
      }
    }
    const { status } = await run.waitForEnd();
    return { status, calls: this.calls.join(' ') };
  }
}
