/**
 * Owns: how things of the cloud are found by a name that somebody types.
 * Owns not: what there is.
 */

/**
 * Finds one thing by full name, else by a part of it that fits only one. Letter case and
 * dashes do not matter in parts.
 */
export function pick<T>(kind: string, name: string, all: readonly T[], namesOf: (item: T) => string[]): T {
  const exact = all.find((item) => namesOf(item).includes(name));
  if (exact !== undefined) return exact;
  const found = all.filter((item) => namesOf(item).some((each) => plain(each).includes(plain(name))));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const listed = (found.length === 0 ? all : found).map((item) => namesOf(item)[0]).join(', ');
  throw new Error(
    found.length === 0
      ? `no ${kind} is called "${name}"; there are: ${listed || 'none'}`
      : `"${name}" fits several ${kind}s: ${listed}`,
  );
}

/** The end of an agent's queue, which is its name behind what all queues of a deployment begin with. */
export const agentIn = (queueArn: string): readonly string[] => /_[^_:]+$/.exec(queueArn) ?? [];

export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[-_]/g, '');
}
