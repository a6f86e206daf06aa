/** Finds things of the cloud by a name that a person types. */

/**
 * Finds one thing by its full name, or by a unique part of it. In parts, letter case and dashes are ignored.
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

/** The name of the agent in the ARN of its queue: the part after the prefix of the deployment's queues. */
export const agentIn = (queueArn: string): readonly string[] => /_([^_:]+)$/.exec(queueArn)?.slice(1) ?? [];

export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[-_]/g, '');
}
