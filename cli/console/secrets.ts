/** Makes secret random texts, and compares them in constant time. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, in characters that never need encoding. */
export const secret = (): string => randomBytes(32).toString('base64url');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export const isSame = (given: string, wanted: string): boolean =>
  timingSafeEqual(digest(given), digest(wanted));
