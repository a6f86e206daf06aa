/**
 * Refuses a property that the builder does not have: `w.inputs`, `w.stepp(…)`. In JavaScript the author would
 * otherwise only learn that something is undefined.
 */

import { nearest } from '../../core/values/nearest.ts';
import { problem, refusal } from '../checks/refusal.ts';

/** Names of other engines, by ours. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  step: ['activity', 'executeActivity', 'run', 'task'],
  wait: ['sleep'],
  receive: ['signal', 'recv'],
  child: ['executeChild'],
  repeat: ['loop'],
  callback: ['awakeable'],
};

/** Puts the builder on a prototype that refuses to have its fields read. */
export function withoutOthers<Builder extends object>(workflow: string, builder: Builder): Builder {
  const names = Object.keys(builder);
  const get = (_: object, key: string | symbol): unknown => {
    // Inspection, promises and JSON read these properties of any object.
    if (typeof key === 'symbol' || key in Object.prototype || key === 'then' || key === 'toJSON')
      return Reflect.get(Object.prototype, key);
    const like = names.find((name) => ELSEWHERE[name]?.includes(key)) ?? nearest(key, names);
    const instead = like === undefined ? `there are ${names.join(', ')}` : `did you mean w.${like}?`;
    throw refusal(workflow, undefined, problem('unknown-method', `w.${key} does not exist; ${instead}`));
  };
  return Object.setPrototypeOf(builder, new Proxy({}, { get })) as Builder;
}
