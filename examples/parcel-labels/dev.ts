/** Sets up the printer for `npm start`: a folder among the local data. */

import { join } from 'node:path';

export default async function startDev(context: { dataDir: string; log(line: string): void }): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const printer = join(context.dataDir, 'printer');
  context.log(`its printer's journal is ${join(printer, 'journal.jsonl')}`);
  return { environment: { LABEL_PRINTER: printer, LABEL_PRINT_MS: '500' }, stop: async () => {} };
}
