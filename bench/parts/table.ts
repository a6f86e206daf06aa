/** The state table as the infrastructure declares it, for code that needs no other part of a deployment. */

import type { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { INDEXES, TABLE } from '../../lib/aws/names.ts';

const keyed = ({ pk, sk }: { readonly pk: string; readonly sk: string }) => [
  { AttributeName: pk, KeyType: 'HASH' as const },
  { AttributeName: sk, KeyType: 'RANGE' as const },
];
const attributes = (names: readonly string[], type: 'S' | 'N') =>
  [...new Set(names)].map((name) => ({ AttributeName: name, AttributeType: type }));

export const tableOf = (name: string): ConstructorParameters<typeof CreateTableCommand>[0] => ({
  TableName: name,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    ...attributes([TABLE.pk, TABLE.sk, ...INDEXES.map(({ pk }) => pk)], 'S'),
    ...attributes(
      INDEXES.map(({ sk }) => sk),
      'N',
    ),
  ],
  KeySchema: keyed(TABLE),
  GlobalSecondaryIndexes: INDEXES.map((index) => ({
    IndexName: index.name,
    KeySchema: keyed(index),
    Projection:
      index.projected.length === 0
        ? { ProjectionType: 'KEYS_ONLY' as const }
        : { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.projected] },
  })),
});
