/** Hashes a text, to name and compare files by content. */

import { createHash } from 'node:crypto';

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
