/**
 * Makes answers fit into the largest answer of a Lambda function.
 *
 * Owns: the limit, the order in which parts of a larger answer are left out, and the note of this in the
 * answer. Does not own: the content of an answer (`views.ts`).
 *
 * A function's answer may have 6 MB ("Invocation payload (request and response)", AWS Lambda Developer Guide,
 * quotas). It is JSON with the body as a text inside, so quotes and backslashes count twice. An execution may
 * have 1,000 steps with outputs of 256 KB. Pages of lists are limited by their number: 100 executions or
 * incidents have less than 3 MB.
 */

import { utf8Bytes } from '../core/values/json.ts';
import { cut } from '../core/values/text.ts';
import type { ExecutionView, Reasons, StepView } from './answers.ts';

/**
 * The bytes of a body inside the function's answer; the rest is for headers and for the names of what is left
 * out.
 */
export const MAX_ANSWER_BYTES = 5_500_000;
/** The most bytes of a character in JSON text: a quote or a backslash takes two, any other up to three. */
const MOST_CHAR_BYTES = 3;
/** Reserved bytes for the remark that a part of a step is left out. */
const MENTION_BYTES = 40;
/** The characters of each reason, if the reasons of all steps would be too large. */
const SHORT_CHARS = 200;

/** Counts the bytes that remain. */
class Room {
  #left = MAX_ANSWER_BYTES;

  /** Takes the bytes of a value if enough remain. */
  take(value: unknown): boolean {
    if (value === undefined) return true;
    const text = JSON.stringify(value);
    // Counted exactly only if it may fit: a text has at least as many bytes as characters.
    const bytes = text.length > this.#left ? text.length : utf8Bytes(JSON.stringify(text));
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}

/**
 * The execution without the parts that do not fit; `omitted` names them. Input, output and open incidents
 * come first, then the attempts, then the outputs of steps in the plan's order.
 * @param only the step to show: the others are left out, and its parts come first
 */
export function fittedExecution(view: ExecutionView, only?: string): ExecutionView {
  if (only === undefined && JSON.stringify(view).length * MOST_CHAR_BYTES <= MAX_ANSWER_BYTES) return view;
  const { input, output, incidents, steps, omitted: unread = [], ...head } = view;
  const room = new Room();
  const shown = only === undefined ? steps : steps.filter(({ name }) => name === only);
  const bare = shown.map((step) => without(step, STEP_PARTS));
  room.take([head, bare]);
  room.spend(bare.length * STEP_PARTS.length * MENTION_BYTES);
  const omitted: string[] = [...unread];
  const optional = (name: string, value: unknown): boolean => {
    if (room.take(value)) return true;
    omitted.push(name);
    return false;
  };
  const open = incidents.filter((one) => one.closedAt === undefined);
  const keepsInput = optional('input', input);
  const whole = only === undefined ? undefined : fittedSteps(shown, room);
  const keepsOutput = optional('output', output);
  const isAll = room.take(incidents);
  if (!isAll) omitted.push('incidents');
  return {
    ...head,
    input: keepsInput ? input : null,
    ...(output === undefined || !keepsOutput ? {} : { output }),
    incidents: isAll ? incidents : open.filter((one) => room.take(one)),
    steps: whole ?? fittedSteps(shown, room),
    ...(omitted.length === 0 ? {} : { omitted }),
  };
}

/** The parts of a step, in the order in which they get room. */
const STEP_PARTS = ['failure', 'attempts', 'children', 'output'] as const;

function fittedSteps(steps: readonly StepView[], room: Room): StepView[] {
  const omitted = steps.map((): (typeof STEP_PARTS)[number][] => []);
  for (const part of STEP_PARTS) {
    for (const [at, step] of steps.entries()) if (!room.take(step[part])) omitted[at]?.push(part);
  }
  return steps.map((step, at) => {
    const left = [...(step.omitted ?? []), ...(omitted[at] ?? [])];
    if (left.length === 0) return step;
    return { attempts: [], ...without(step, left), omitted: left };
  });
}

const without = (step: StepView, parts: readonly string[]): Omit<StepView, 'attempts'> =>
  Object.fromEntries(Object.entries(step).filter(([name]) => !parts.includes(name))) as never;

/**
 * Leaves out the beginning of an explanation's past, as far as it does not fit; `omittedPast` counts what is
 * left out.
 */
export function fittedExplanation(explanation: Reasons): Reasons {
  const { past, ...whole } = explanation;
  const room = new Room();
  const rest = room.take(whole) ? whole : shortened(whole);
  if (rest !== whole) room.take(rest);
  let from = past.length;
  while (from > 0 && room.take(past[from - 1])) from -= 1;
  return from === 0 ? { ...rest, past } : { ...rest, past: past.slice(from), omittedPast: from };
}

const shortened = (reasons: Omit<Reasons, 'past'>): Omit<Reasons, 'past'> => ({
  ...reasons,
  steps: reasons.steps.map(({ because, next, ...step }) => ({
    ...step,
    because: cut(because, SHORT_CHARS),
    next: { ...next, what: cut(next.what, SHORT_CHARS) },
  })),
});
