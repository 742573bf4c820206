-- name: book_seat   ($1 guest)
INSERT INTO seats (guest) VALUES ($1) RETURNING id;
