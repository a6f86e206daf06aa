/** The inbox as commands read it. */

import type { IncidentPage } from '../lib/api/answers.ts';
import type { Client } from '../lib/api/client.ts';

const PAGE = 100;
/** More are not read by a person. */
const MOST_READ = 500;

/** Page by page, the most urgent ones. */
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
