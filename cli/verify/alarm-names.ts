/**
 * Which of a stack's alarms is meant by the name of its construct.
 *
 * Owns: the choice. Does not own: what becomes of the alarm (`local.ts`, `aws.ts`).
 */

/** What CDK puts behind a construct's name, and CloudFormation behind that. */
const END = '[0-9A-F]{8}(?:-|$)';

/** `IncidentOpen` is not `IncidentOpened`; without such an end any name with the text in it. */
export function alarmIn(names: readonly string[], text: string): string | undefined {
  const whole = new RegExp(`${text}${END}`);
  return names.find((name) => whole.test(name)) ?? names.find((name) => name.includes(text));
}
