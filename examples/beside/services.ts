/** Services in memory that the workflows of all three engines call. A repeated key acts only once. */

export const acts: string[] = [];
const known = new Set<string>();

async function once(key: string, what: string): Promise<{ readonly id: string }> {
  if (!known.has(key)) acts.push(what);
  known.add(key);
  return { id: what };
}

export const book = (key: string, kind: string, city: string) => once(key, `book ${kind} in ${city}`);
export const cancel = (key: string, kind: string) => once(`${key}-undo`, `cancel ${kind}`);
export const payBack = (key: string, orderId: string, amount: number) => once(key, `${orderId}: ${amount}`);
export const submit = (key: string, film: string) => once(key, `encode ${film}`);
export const post = (key: string, account: string, amount: number) => once(key, `${account}: ${amount}`);

const percents = [20, 70, 100];
export async function readJob(id: string): Promise<{ readonly isDone: boolean; readonly url: string }> {
  const isDone = (percents.shift() ?? 100) === 100;
  return { isDone, url: isDone ? `/films/${id}` : '' };
}

/** @returns the cursor of the next page, or an empty text after the last one */
export async function copyPage(cursor: string): Promise<{ readonly cursor: string }> {
  acts.push(`page ${cursor}`);
  return { cursor: cursor === 'c2' ? '' : `c${Number(cursor.slice(1) || '0') + 1}` };
}
