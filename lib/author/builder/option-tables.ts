/**
 * The names of all options that an author may give. The compiler keeps each table equal to its type.
 *
 * Owns: the tables of workflows and steps. Does not own: the text of a refusal (`values/options.ts`), what
 * each option means (beside its type).
 */

import { type Keys, type KeysOf, optionProblem } from '../../core/values/options.ts';
import { problem, refusal } from '../checks/refusal.ts';
import type { ConcurrencyOptions, OnFailureOptions, StepOptions, WorkflowOptions } from './draft.ts';
import { withoutOthers } from './no-such-method.ts';
import type { RepeatOptions } from './rounds.ts';
import type { ReceiveOptions } from './receive.ts';
import type {
  AnyStepOptions,
  ApprovalOptions,
  CallbackOptions,
  ChildOptions,
  ItemOptions,
  MapLimits,
  MayFailOptions,
  WaitOptions,
} from './waiting-steps.ts';

const WORKFLOW = {
  input: true,
  within: true,
  pauseWithin: true,
  tags: true,
  fairBy: true,
  announceEnds: true,
  concurrency: true,
} as const satisfies KeysOf<WorkflowOptions<unknown>>;
const CONCURRENCY = {
  key: true,
  limit: true,
  waitWithin: true,
  group: true,
} as const satisfies KeysOf<ConcurrencyOptions<unknown>>;

const ANY = {
  after: true,
  when: true,
  within: true,
  mayFail: true,
} as const satisfies KeysOf<AnyStepOptions & MayFailOptions>;
const ANSWER = { ...ANY, remindEvery: true } as const;
const { mayFail: _1, ...UNTOLERATED } = ANY;
const { within: _2, ...LATE } = UNTOLERATED;
const PERFORMED = { recovery: true, timeout: true } as const;
const UNDONE = { undo: true, retryUndo: true, pointOfNoReturn: true } as const;
const LIMITS = { concurrency: true, mayFail: true } as const satisfies KeysOf<MapLimits>;

/** The options of each method of the builder. The items of a list are performed by an agent or a workflow. */
export const STEP_OPTIONS = {
  step: { ...ANY, ...PERFORMED, ...UNDONE } as const satisfies KeysOf<StepOptions>,
  wait: { ...ANY, for: true, until: true } as const satisfies KeysOf<WaitOptions>,
  callback: {
    ...ANSWER,
    output: true,
    otherwise: true,
    heartbeatEvery: true,
  } as const satisfies KeysOf<CallbackOptions<unknown>>,
  approval: {
    ...ANSWER,
    by: true,
    otherwise: true,
    show: true,
  } as const satisfies KeysOf<ApprovalOptions>,
  receive: {
    ...ANY,
    message: true,
    otherwise: true,
    name: true,
  } as const satisfies KeysOf<ReceiveOptions<unknown, 'fail' | 'continue'>>,
  child: {
    ...ANY,
    recovery: true,
    undo: true,
    pointOfNoReturn: true,
  } as const satisfies KeysOf<ChildOptions>,
  onFailure: { ...LATE, ...PERFORMED } as const satisfies KeysOf<OnFailureOptions>,
  map: {
    ...UNTOLERATED,
    ...PERFORMED,
    ...LIMITS,
    ...UNDONE,
  } as const satisfies KeysOf<StepOptions & MapLimits>,
  mapOfWorkflows: { ...UNTOLERATED, ...LIMITS, recovery: true, undo: true } as const satisfies KeysOf<
    ItemOptions & MapLimits & { readonly when?: unknown }
  >,
  repeat: {
    ...ANY,
    until: true,
    next: true,
    maxRounds: true,
    every: true,
    otherwise: true,
    recovery: true,
    undo: true,
  } as const satisfies KeysOf<RepeatOptions<unknown, unknown>>,
};

/** Options that the plan's check refuses with a reason of its own, because they belong to other steps. */
const REASONED: Partial<Readonly<Record<keyof typeof STEP_OPTIONS, Keys>>> = {
  callback: { by: true, show: true },
  mapOfWorkflows: { pointOfNoReturn: true },
  onFailure: { mayFail: true, within: true, undo: true, pointOfNoReturn: true },
  repeat: { pointOfNoReturn: true },
};

/** @throws SteadfastError `workflow-refused` */
function checkOptions(
  workflow: string,
  step: string | undefined,
  options: unknown,
  keys: Keys,
  also?: Keys,
): void {
  const found = optionProblem(options, keys, also);
  if (found !== undefined) throw refusal(workflow, step, problem('bad-option', found));
}

/** @throws as `checkOptions` */
export function checkWorkflowOptions(
  name: string,
  options: { readonly concurrency?: unknown; readonly tags?: unknown; readonly announceEnds?: unknown },
): void {
  checkOptions(name, undefined, options, WORKFLOW);
  checkOptions(name, 'concurrency', options.concurrency, CONCURRENCY);
  checkList(name, undefined, options.tags, 'tags', "['orderId']");
  const { announceEnds } = options;
  if (announceEnds === undefined || typeof announceEnds === 'boolean') return;
  const message = 'announceEnds is neither true nor false: write announceEnds: false, or leave it out';
  throw refusal(name, undefined, problem('bad-option', message));
}

interface Options {
  readonly after?: unknown;
  readonly recovery?: unknown;
  readonly undo?: unknown;
  readonly retryUndo?: unknown;
}
type Given = Options | undefined;

/** The index of the argument with the options, by method. */
const OPTIONS_AT = {
  step: 3,
  wait: 1,
  callback: 1,
  approval: 1,
  receive: 1,
  child: 3,
  onFailure: 3,
  repeat: 3,
  map: 4,
};

type Declare = (...given: readonly unknown[]) => unknown;

/** The builder with a check of the options before each method. */
export function checking<Builder extends object>(workflow: string, builder: Builder): Builder {
  const checked = Object.entries(OPTIONS_AT).map(([method, at]): [string, Declare] => {
    const declare = builder[method as keyof Builder] as Declare;
    return [
      method,
      (...given) => {
        const [step, performer] = given;
        const isOfWorkflows =
          method === 'map' && (Object(performer) as { kind?: unknown }).kind === WORKFLOW_KIND;
        const kind = isOfWorkflows ? 'mapOfWorkflows' : (method as keyof typeof OPTIONS_AT);
        checkStepOptions(workflow, String(step), kind, given[at] as Given);
        return declare(...given);
      },
    ];
  });
  return withoutOthers(workflow, { ...builder, ...Object.fromEntries(checked) });
}

const WORKFLOW_KIND = 'steadfast:workflow';

/**
 * Refuses misspelled options, lists without brackets, and steps that are named before they are declared.
 * @throws SteadfastError `workflow-refused`
 */
function checkStepOptions(
  workflow: string,
  step: string,
  kind: keyof typeof STEP_OPTIONS,
  options: Given,
): void {
  checkOptions(workflow, step, options, STEP_OPTIONS[kind], REASONED[kind]);
  const { undo, retryUndo } = options ?? {};
  if (kind !== 'onFailure' && typeof undo === 'object') {
    const message = "undo says only whether it is undone: write undo: 'none', or retryUndo: retry(10)";
    throw refusal(workflow, step, problem('bad-option', message));
  }
  if (undo === 'none' && retryUndo !== undefined) {
    const message = "with undo: 'none' there is nothing to retry: leave undo or retryUndo out";
    throw refusal(workflow, step, problem('bad-option', message));
  }
  checkList(workflow, step, options?.recovery, 'recovery', '[retry(3)]');
  checkList(workflow, step, options?.after, 'after', '[step]');
  const before = (options?.after ?? []) as readonly unknown[];
  const at = before.findIndex(
    (one) => typeof (Object(one) as { name?: unknown }).name !== 'string' && typeof one !== 'string',
  );
  if (at < 0) return;
  const message = `after[${at}] is ${before[at] === undefined ? 'undefined' : 'no step'}: write what w.step and the like return, and declare a step before it is used; steps that wait for each other would never begin`;
  throw refusal(workflow, step, problem('unknown-step', message));
}

/**
 * Refuses a value in place of a list, because authors forget the brackets.
 * @throws SteadfastError `workflow-refused`
 */
function checkList(
  workflow: string,
  step: string | undefined,
  value: unknown,
  option: string,
  example: string,
): void {
  if (value === undefined || Array.isArray(value)) return;
  const message = `${option} is not a list: write it in brackets, ${option}: ${example}`;
  throw refusal(workflow, step, problem('bad-option', message));
}
