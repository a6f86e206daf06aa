/** Pages: reads one page after the other, until there is no next page. */

import { agent, exists, not, orElse, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Place = z.object({ source: z.string(), cursor: z.string() });
const Page = z.object({ rows: z.number(), next: z.optional(z.string()) });

export const copyPage = agent('copy-page', {
  input: Place,
  output: Page,
  effect: 'idempotent',
  undo: 'none',
});

export const copying = workflow('copying', { input: z.object({ source: z.string() }), within: '1d' }, (w) => {
  const { source } = w.input;
  const pages = w.repeat(
    'pages',
    copyPage,
    { source, cursor: '' },
    {
      next: (page) => ({ source, cursor: orElse(page.next, '') }),
      until: (page) => not(exists(page.next)),
      maxRounds: 500,
    },
  );
  return { pages: pages.output.rounds };
});
