/** Reads the inbox for commands. */

import type { IncidentPage } from '../lib/api/answers.ts';
import type { Client } from '../lib/api/client.ts';

const PAGE = 100;
/** The most questions that are read. */
const MOST_READ = 500;

/** The most urgent questions, read page by page. */
export async function openQuestions(api: Pick<Client, 'incidents'>): Promise<IncidentPage> {
  const items: IncidentPage['items'][number][] = [];
  let cursor: string | undefined;
  do {
    const page = await api.incidents({
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined && items.length < MOST_READ);
  return { items, ...(cursor === undefined ? {} : { cursor }) };
}
