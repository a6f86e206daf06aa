/** Orders a pickup, once for each idempotency key. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PermanentError } from 'steadfast';
import { orderPickup } from '../contracts.ts';

const CARRIES_KG = 30;

const folder = (): string => join(resolve(process.env['LABEL_PRINTER'] ?? '.steadfast/labels'), 'pickups');

export const handler = orderPickup.handler({
  execute: async (ctx, { parcel, label, kilograms }) => {
    if (kilograms > CARRIES_KG) throw new PermanentError(`the carrier takes up to ${CARRIES_KG} kg`);
    await mkdir(folder(), { recursive: true });
    await writeFile(join(folder(), `${ctx.idempotencyKey}.json`), `${JSON.stringify({ parcel, label })}\n`);
    return { pickup: ctx.idempotencyKey };
  },
  undo: (ctx) => rm(join(folder(), `${ctx.idempotencyKey}.json`), { force: true }),
});
