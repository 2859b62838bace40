BEGIN TRANSACTION;
CREATE TABLE marks (
            repository TEXT NOT NULL,
            change_id TEXT NOT NULL,
            marked_at TEXT NOT NULL,
            PRIMARY KEY (repository, change_id)
        ) WITHOUT ROWID
        ;
INSERT INTO "marks" VALUES('here','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','2026-11-24T02:54:37+00:00');
INSERT INTO "marks" VALUES('here','finding:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','2026-11-24T02:54:37+00:00');
INSERT INTO "marks" VALUES('there','cccccccccccccccccccccccccccccccc','2026-11-24T02:54:37+00:00');
COMMIT;
PRAGMA user_version = 1;
